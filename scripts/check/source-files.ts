import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseSync } from "oxc-parser";

/** A source file as the rules see it. `path` is relative to the checkout, with `/`. */
export type SourceFile = {
  readonly path: string;
  /** What it imports and re-exports, types included, as written. */
  readonly imports: readonly string[];
  /** Without comments, lines kept. */
  readonly code: string;
};

const SKIPPED_FOLDERS = new Set(["node_modules", "fixtures", "templates", ".git", ".wrangler"]);

/** The TypeScript sources below these folders of a checkout. */
export function sourceFiles(checkout: string, folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => typescriptFiles(join(checkout, folder)))
    .map((file) => readSource(relative(checkout, file).split(sep).join("/"), readFileSync(file, "utf8")));
}

/** A source text as the rules see it. */
export function readSource(path: string, text: string): SourceFile {
  const { module, comments } = parseSync(path, text);
  const fromExports = module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? []));
  const dynamic = module.dynamicImports.flatMap(({ moduleRequest }) => literal(text.slice(moduleRequest.start, moduleRequest.end)));
  return {
    path,
    imports: [...new Set([...module.staticImports.map(({ moduleRequest }) => moduleRequest.value), ...fromExports, ...dynamic])],
    code: comments.reduceRight((code, { start, end }) => code.slice(0, start) + blank(code.slice(start, end)) + code.slice(end), text),
  };
}

function typescriptFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : typescriptFiles(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

/** The text of a string literal, or nothing where a module is named by an expression. */
function literal(expression: string): string[] {
  const text = /^(["'`])([^$\\]*)\1$/.exec(expression)?.[2];
  return text === undefined ? [] : [text];
}

function blank(comment: string): string {
  return comment.replace(/[^\n]/g, " ");
}
