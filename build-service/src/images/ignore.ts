import { posix } from "node:path";
import type { LeaveOut } from "../bundle/folder-files.ts";
import { type IgnorePattern, ignorePattern } from "./ignore-pattern.ts";

/**
 * What an ignore file leaves out of a build context, by Docker's own rules (moby/patternmatcher), letters' case counted. `keep`
 * are paths that stay whatever it says. Throws a SyntaxError for a pattern that Docker refuses.
 *
 * An exception brings back files of a folder that is left out, wherever its wildcards stand: so BuildKit has it. The older
 * client sends such a file only if the exception's text begins with the folder's path.
 */
export function ignoreRules(text: string, keep: readonly string[]): LeaveOut {
  const patterns = patternsOf(text);
  const hasExceptions = patterns.some(({ isException }) => isException);
  const kept = new Set(keep);
  const isOut = outcomesOf(patterns);
  return {
    file: (path) => !kept.has(path) && isOut(path),
    folder: (path) => !hasExceptions && isOut(path) && !keep.some((other) => other.startsWith(`${path}/`)),
  };
}

/** The patterns of an ignore file in order: without a BOM at its start, empty lines and lines that open with `#`. */
function patternsOf(text: string): IgnorePattern[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => !line.startsWith("#") && line.trim() !== "")
    .map((line) => {
      const trimmed = line.trim();
      const isException = trimmed.startsWith("!");
      const written = isException ? trimmed.slice(1).trim() : trimmed;
      const pattern = written === "" ? "" : cleaned(written);
      if (isException && (pattern === "" || pattern === "/")) throw new SyntaxError(`${JSON.stringify(line)} is an exception of nothing`);
      return ignorePattern(pattern, isException);
    });
}

/** Without `.`, `..` and doubled slashes, and without a slash at either end: `/` alone stays. */
function cleaned(pattern: string): string {
  const path = posix.normalize(pattern).replace(/(?<=.)\/$/, "");
  return path.length > 1 && path.startsWith("/") ? path.slice(1) : path;
}

/** Which patterns match a path or, as far as they were looked at, a folder above it, by index; and what comes of it. */
type Outcome = { readonly matched: ReadonlySet<number>; readonly isOut: boolean };

const OUTSIDE: Outcome = { matched: new Set(), isOut: false };

/** Says whether a path is left out. Each folder is looked at once, and so is a path that is asked for again at once. */
function outcomesOf(patterns: readonly IgnorePattern[]): (path: string) => boolean {
  const folders = new Map([[".", OUTSIDE]]);
  let last = { path: ".", outcome: OUTSIDE };
  const outcomeOf = (path: string): Outcome => {
    if (last.path !== path) last = { path, outcome: below(folderOutcome(posix.dirname(path)), path, patterns) };
    return last.outcome;
  };
  const folderOutcome = (path: string): Outcome => {
    const known = folders.get(path) ?? outcomeOf(path);
    folders.set(path, known);
    return known;
  };
  return (path) => outcomeOf(path).isOut;
}

function below(parent: Outcome, path: string, patterns: readonly IgnorePattern[]): Outcome {
  const matched = new Set<number>();
  let isOut = false;
  for (const [index, { isException, matches }] of patterns.entries()) {
    if (!parent.matched.has(index) && (isException !== isOut || !matches(path))) continue;
    matched.add(index);
    isOut = !isException;
  }
  return { matched, isOut };
}
