import dockerignore from "@balena/dockerignore";
import type { LeaveOut } from "../bundle/folder-files.ts";

/**
 * What an ignore file leaves out of a build context, by Docker's own rules, letters' case counted. `keep` are paths that
 * stay whatever it says. Throws a SyntaxError for a pattern that can't be one.
 */
export function ignoreRules(text: string, keep: readonly string[]): LeaveOut {
  const lines = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map(patternLine);
  const rules = dockerignore.default({ ignorecase: false }).add(lines);
  rules.ignores("a pattern is compiled at its first use");
  const hasExceptions = lines.some((line) => line.trim().startsWith("!"));
  const kept = new Set(keep);
  return {
    file: (path) => !kept.has(path) && rules.ignores(path),
    folder: (path) => !hasExceptions && rules.ignores(path) && !keep.some((other) => other.startsWith(`${path}/`)),
  };
}

/** The library takes characters for regular expression syntax that Docker takes for themselves. */
function patternLine(line: string): string {
  if (line.startsWith("#")) return "";
  return line.replace(/\\.|[+(){}|]/g, (found) => (found.length === 1 ? `\\${found}` : found));
}
