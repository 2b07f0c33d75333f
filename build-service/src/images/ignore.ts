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
  const outcomes = new Map<string, Outcome>();
  const isOut = (path: string): boolean => outcome(path, patterns, outcomes).isOut;
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

/** Which patterns match a path or, as far as they were looked at, a folder above it; and what comes of it. */
type Outcome = { readonly matched: readonly boolean[]; readonly isOut: boolean };

function outcome(path: string, patterns: readonly IgnorePattern[], known: Map<string, Outcome>): Outcome {
  const found = known.get(path);
  if (found !== undefined) return found;
  const above = posix.dirname(path);
  const parent = above === "." ? null : outcome(above, patterns, known);
  let isOut = false;
  const matched = patterns.map(({ isException, matches }, index) => {
    const isMatch = parent?.matched[index] === true || (isException === isOut && matches(path));
    if (isMatch) isOut = !isException;
    return isMatch;
  });
  const made = { matched, isOut };
  known.set(path, made);
  return made;
}
