import { readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { byCodePoint } from "../../bundle/code-points.ts";
import { type EntryFile, MAX_FILE_BYTES } from "../../bundle/folder-files.ts";
import type { SourceScan } from "./finding.ts";
import { scanPython } from "./python.ts";
import { scanTypeScript } from "./typescript.ts";

/** What the sources that an image is built from say about the environment's name. */
export type CardScan = {
  /** The distinct names, sorted. */
  readonly names: readonly string[];
  /** Where no name was found: why some place names none, as `server.py line 3: …`. */
  readonly hints: readonly string[];
};

type Language = {
  readonly suffixes: readonly string[];
  readonly word: string;
  scan(path: string, text: string): SourceScan | Promise<SourceScan>;
};

const LANGUAGES: readonly Language[] = [
  { suffixes: [".py"], word: "environment_card", scan: (_path, text) => scanPython(text) },
  { suffixes: [".ts", ".tsx", ".js", ".mjs"], word: "environmentCard", scan: scanTypeScript },
];

/**
 * Looks for environment cards in `files`, an image's build context: first under the Dockerfile's own folder, and only if
 * that names nothing, everywhere (B3.2).
 */
export async function scanCards(files: readonly EntryFile[], dockerfile: string): Promise<CardScan> {
  const folder = posix.dirname(dockerfile);
  const near = folder === "." ? files : files.filter(({ path }) => path.startsWith(`${folder}/`));
  const first = await scanFiles(near);
  return first.names.length > 0 || near === files ? first : scanFiles(files);
}

async function scanFiles(files: readonly EntryFile[]): Promise<CardScan> {
  const names = new Set<string>();
  const hints: string[] = [];
  for (const file of files) {
    const scan = await scanFile(file);
    if ("error" in scan) hints.push(`${file.path} can't be read: ${scan.error}`);
    else
      for (const { line, name } of scan.findings) {
        if (name === null) hints.push(`${file.path} line ${line}: the card's name is no literal`);
        else names.add(name);
      }
  }
  return { names: [...names].sort(byCodePoint), hints: names.size === 0 ? hints : [] };
}

const NO_CARDS: SourceScan = { findings: [] };

/** Most files are done with once it is clear that they don't hold the word. */
async function scanFile({ path, disk }: EntryFile): Promise<SourceScan> {
  const language = languageOf(path);
  // One that is too large is refused by the walk that found it.
  if (language === undefined || statSync(disk).size > MAX_FILE_BYTES) return NO_CARDS;
  const bytes = readFileSync(disk);
  if (!bytes.includes(language.word)) return NO_CARDS;
  const text = decoded(bytes);
  return text === null ? { error: "it isn't UTF-8" } : language.scan(path, text);
}

function languageOf(path: string): Language | undefined {
  if (path.endsWith(".d.ts") || path.split("/").includes("node_modules")) return undefined;
  return LANGUAGES.find(({ suffixes }) => suffixes.some((suffix) => path.endsWith(suffix)));
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
