import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonSchema } from "./json-schema.ts";

/** Where a bundle keeps the schemas that its files name: offline, and beside what a check never looks at. */
export const SCHEMA_FOLDER = ".agentenv/schemas";

/** The schemas as they are shipped, made by `npm run schemas`. */
export const SHIPPED_SCHEMAS = fileURLToPath(new URL("../../schemas/", import.meta.url));

/** A schema as its file's text. */
export function schemaText(schema: JsonSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Gives a bundle this version's schemas. They are ours: an older version's are replaced. */
export function writeSchemas(bundle: string): void {
  const folder = join(bundle, SCHEMA_FOLDER);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(SHIPPED_SCHEMAS)) {
    const text = readFileSync(join(SHIPPED_SCHEMAS, name), "utf8");
    const file = join(folder, name);
    const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true && readFileSync(file, "utf8") === text;
    if (!isThere) writeFileSync(file, text);
  }
}
