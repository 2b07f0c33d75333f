import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { SCHEMA_FOLDER } from "../schemas/schema-files.ts";

/** A file to write: its path in the bundle, with `/`, and its text. */
export type NewFile = { readonly path: string; readonly text: string };

const TEMPLATES = fileURLToPath(new URL("../../templates/", import.meta.url));

/** The files of a template. `words` stand for `__<word>__` in paths and texts; `__schemas__` is the way to the schemas. */
export function fromTemplate(template: string, words: Readonly<Record<string, string>>): NewFile[] {
  const folder = join(TEMPLATES, template);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const disk = join(entry.parentPath, entry.name);
      const path = filled(relative(folder, disk).split(sep).join("/"), words);
      const schemas = posix.relative(dirname(path), SCHEMA_FOLDER);
      return { path, text: filled(readFileSync(disk, "utf8"), { ...words, schemas }) };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function filled(text: string, words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce((filled, [word, value]) => filled.replaceAll(`__${word}__`, () => value), text);
}
