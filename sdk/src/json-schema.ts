import { isJsonObject } from "@agent-env/protocol";
import { z } from "zod";
import { AuthorError } from "./author-error.ts";

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

/** What a field of a form may be, by its JSON Schema's type (MCP, elicitation). */
const FORM_TYPES = ["string", "number", "integer", "boolean"];

/**
 * The schema of a form that a client's person fills in: flat, of texts, numbers, booleans and choices. Titles of choices are
 * those of literals in a union.
 */
export function formSchema(what: string, input: z.ZodRawShape): JsonSchema {
  const { additionalProperties: _closed, ...form } = written(what, z.object(input), "input", choices, "throw");
  const properties = Object.entries(isJsonObject(form["properties"]) ? form["properties"] : {});
  const stray = properties.filter(([, field]) => !isFormField(field)).map(([name]) => name);
  if (stray.length === 0) return form;
  throw new AuthorError({
    what: `${what} has a field that no form can have: ${stray.join(", ")}`,
    why: "a field is a text, a number, a boolean, or a choice of one or several texts",
    next: "ask for it in fields of these kinds",
  });
}

function isFormField(field: unknown): boolean {
  if (!isJsonObject(field)) return false;
  const { type, items } = field;
  if (type === "array") return isJsonObject(items) && (Array.isArray(items["enum"]) || Array.isArray(items["anyOf"]));
  return FORM_TYPES.some((known) => known === type);
}

/** A union of literals is a choice with titles: MCP writes the choice of one as `oneOf`, of several as `anyOf` of the items. */
function choices(written: Written): void {
  plain(written);
  const { jsonSchema, path } = written;
  const consts = jsonSchema.anyOf?.filter((choice) => typeof choice === "object" && choice.const !== undefined) ?? [];
  if (consts.length === 0 || consts.length !== jsonSchema.anyOf?.length) return;
  const titled = consts.map((choice) =>
    typeof choice === "object" ? { const: choice.const, title: choice.title ?? String(choice.const) } : choice,
  );
  if (path.at(-1) === "items") {
    jsonSchema.anyOf = titled;
    return;
  }
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, { type: "string", oneOf: titled });
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
    throw new AuthorError(
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
