import { UserError } from "@agent-env/protocol";
import { z } from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of a tool's arguments or result, as MCP lists it. `what` names the place, for the error. */
export function toolSchema(what: string, schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return written(what, schema, io, plain, "throw");
}

/** The schema of an extension's params: a date is a string, an optional its inner type, a union says nothing (3-wire §ext). */
export function paramsSchema(what: string, schema: z.ZodType): JsonSchema {
  const { additionalProperties: _closed, ...params } = written(what, schema, "input", loose, "any");
  return params;
}

type Written = Parameters<NonNullable<z.core.ToJSONSchemaParams["override"]>>[0];

function written(
  what: string,
  schema: z.ZodType,
  io: "input" | "output",
  override: (written: Written) => void,
  unrepresentable: "throw" | "any",
): JsonSchema {
  try {
    const { $schema: _draft, ...json } = z.toJSONSchema(schema, { io, override, unrepresentable });
    return json;
  } catch (cause) {
    throw new UserError(
      {
        what: `${what} has a schema that can't be written as JSON Schema`,
        why: cause instanceof Error ? cause.message : String(cause),
        next: "use types that JSON has: z.iso.datetime() for a time, z.array() for a set",
      },
      { cause },
    );
  }
}

/** Without what tells a reader nothing: the bounds of safe integers, and the pattern behind a named format. */
function plain({ jsonSchema }: Written): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

function loose(written: Written): void {
  plain(written);
  const { zodSchema, jsonSchema } = written;
  const { type } = zodSchema._zod.def;
  if (type === "date") Object.assign(jsonSchema, { type: "string", format: "date-time" });
  if (jsonSchema.anyOf === undefined) return;
  const [inner] = jsonSchema.anyOf;
  if (type === "nullable" || type === "union") delete jsonSchema.anyOf;
  if (type === "nullable" && typeof inner === "object") Object.assign(jsonSchema, { ...inner, ...jsonSchema });
}
