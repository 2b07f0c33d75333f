import { z } from "zod";

/** A JSON Schema, as far as it is put together here. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What editors know best. */
export const DRAFT = "http://json-schema.org/draft-07/schema#";

/** The schema of what is written by hand: what has a default may be left out. */
export function ofZod(type: z.ZodType): JsonSchema {
  const { $schema: _draft, ...schema } = z.toJSONSchema(type, { target: "draft-7", io: "input", unrepresentable: "any" });
  return schema;
}

/** A whole file's schema, with its head. */
export function fileSchema(title: string, description: string, schema: JsonSchema): JsonSchema {
  return { $schema: DRAFT, title, description, ...schema };
}

/** A schema with a text that editors show. */
export function withHelp(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { description, ...schema };
}
