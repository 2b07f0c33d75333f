import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { idSegmentProblem, type Problem, problemLine, UserError } from "@agent-env/protocol";
import { checkBundle } from "../bundle/check.ts";
import { writeSchemas } from "../schemas/schema-files.ts";
import type { Registry } from "../types/registry.ts";
import { placeOf } from "./find-place.ts";
import type { InitKind } from "./kinds.ts";
import { newFiles } from "./new-files.ts";
import type { NewFile } from "./template.ts";

export type InitRequest = {
  readonly kind: InitKind;
  readonly name: string;
  readonly cwd: string;
  readonly registry: Registry;
  /** Read when the first file is about to be written. */
  readonly signal: AbortSignal;
};

/** What was made. Paths are relative to the bundle. */
export type Initialized = {
  readonly bundle: string;
  readonly isNewBundle: boolean;
  readonly created: readonly string[];
  /** The bundle has a task. */
  readonly canRun: boolean;
};

/**
 * Writes something new that passes `bundle check` as it is: into the bundle around `cwd`, or into a new one. Overwrites
 * nothing. Throws a UserError for a name that can't be or that is taken, also where it is the bundle's check that has something
 * against it; then nothing stays, nor where a signal ends it.
 */
export async function init(request: InitRequest): Promise<Initialized> {
  const { kind, name, cwd, registry } = request;
  refuseName(kind, name);
  const place = placeOf(kind, name, cwd);
  const { folder, bundle } = place;
  const files = await newFiles(kind, name, place);
  refuseTaken(folder, files);
  const before = bundle === null ? [] : (await checkBundle(folder, { registry })).problems;
  const { signal } = request;
  signal.throwIfAborted();
  const tops = write(folder, files);
  const { bundle: checked, problems } = await checkBundle(folder, { registry });
  const fresh = problems.filter((problem) => !isIn(before, problem));
  if (fresh.length > 0 || signal.aborted) {
    for (const top of tops) rmSync(top, { recursive: true });
    signal.throwIfAborted();
    // The files were good but for what the name makes of them, and aren't there any more: no path of theirs helps.
    throw noName(kind, name, [...new Set(fresh.map(({ message }) => message))].join("\n"));
  }
  writeSchemas(folder);
  const canRun = checked?.entries.some((entry) => entry.kind === "task") === true;
  return { bundle: folder, isNewBundle: bundle === null, created: files.map(({ path }) => path), canRun };
}

function refuseName(kind: InitKind, name: string): void {
  const reason =
    idSegmentProblem(name.normalize("NFC")) ?? (name.startsWith(".") ? "a bundle doesn't look at names that start with a dot" : null);
  if (reason !== null) throw noName(kind, name, reason);
}

function noName(kind: InitKind, name: string, why: string): UserError {
  return new UserError({
    what: `init ${kind} ${JSON.stringify(name)}: can't be a name`,
    why,
    next: `choose another: agent-env init ${kind} <name>`,
    exitCode: 2,
  });
}

function refuseTaken(folder: string, files: readonly NewFile[]): void {
  const taken = topsOf(files).filter((path) => statSync(join(folder, path), { throwIfNoEntry: false }) !== undefined);
  if (taken.length === 0) return;
  throw new UserError({
    what: `${taken.join(", ")}: ${taken.length === 1 ? "is" : "are"} there already`,
    why: "init overwrites nothing",
    next: "choose another name, or remove what is there",
  });
}

/** What the files are entries of: `envs/blog`, `tasks/blog.json`, `README.md`. */
function topsOf(files: readonly NewFile[]): string[] {
  return [...new Set(files.map(({ path }) => path.split("/").slice(0, 2).join("/")))];
}

/** Writes all of them; gives what to remove to undo it. */
function write(folder: string, files: readonly NewFile[]): string[] {
  const made: string[] = [];
  for (const { path, text } of files) {
    const disk = join(folder, path);
    const first = mkdirSync(dirname(disk), { recursive: true });
    if (first !== undefined) made.push(first);
    writeFileSync(disk, text, { flag: "wx" });
    if (first === undefined && !made.some((top) => disk.startsWith(`${top}/`))) made.push(disk);
  }
  // A folder that was made holds those made in it.
  return made.filter((path) => !made.some((top) => path !== top && path.startsWith(`${top}/`)));
}

function isIn(problems: readonly Problem[], problem: Problem): boolean {
  return problems.some((other) => problemLine(other) === problemLine(problem));
}
