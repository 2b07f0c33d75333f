import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Kind, Refused } from "@agent-env/protocol";
import { KIND_FOLDERS, KIND_OF } from "../bundle/bundle.ts";
import type { Lookup } from "../bundle/lookup.ts";
import { parseBundle } from "../bundle/parse.ts";

const FILE_SUFFIX: Readonly<Record<string, string>> = { tasks: ".json", evals: ".toml" };

/**
 * The id of the entry of that name in the bundle that `folder` is, or lies in; null where there is none. Throws `Refused`
 * where the entry is there and the bundle can't be read.
 */
export function idInBundle(kind: Kind, name: string, folder: string): string | null {
  if (name === "" || name.startsWith("@") || name.includes("/")) return null;
  const bundle = foldersAbove(folder).find((candidate) => hasEntry(kind, name, candidate));
  if (bundle === undefined) return null;
  const parsed = parseBundle(bundle);
  const entry = parsed.bundle?.entries.find((candidate) => candidate.kind === kind && candidate.name === name);
  if (entry === undefined && parsed.problems.length > 0) throw new Refused(parsed.problems);
  return entry?.id ?? null;
}

/**
 * Looks references up outside a run: a name in a bundle at one of `folders`, in their order, stands for its id, and all that
 * is named is stored.
 */
export function lookupHere(folders: readonly string[]): Lookup {
  return (text, kind) => {
    const own = folders.map((folder) => idInBundle(kind, text, folder)).find((id) => id !== null);
    return { target: { in: "store", kind, id: own ?? text } };
  };
}

function hasEntry(kind: Kind, name: string, folder: string): boolean {
  return KIND_FOLDERS.filter((kindFolder) => KIND_OF[kindFolder] === kind).some((kindFolder) =>
    existsSync(join(folder, kindFolder, `${name}${FILE_SUFFIX[kindFolder] ?? ""}`)),
  );
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}
