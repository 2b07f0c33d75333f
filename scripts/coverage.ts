import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type FileCoverage, refusalsIn, unreached } from "./coverage/refusals.ts";

const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));
const REPORT = new URL("../coverage/coverage-final.json", import.meta.url);
/** Where every branch that refuses something has a test. */
const FOLDERS = ["bundle", "types", "images", "store"];

/**
 * Runs the unit and integration tests (or those that are named) with coverage, prints that of branches, and lists each place
 * that refuses something and that no test has reached; ends with 1 when there are any. What only a child process reaches
 * doesn't count: a refusal's text is compared where it arises.
 */
function main(files: readonly string[]): number {
  const include = FOLDERS.map((folder) => `--coverage.include=build-service/src/${folder}/**/*.ts`);
  const { status } = spawnSync(
    "vitest",
    [
      ...["run", "--project", "unit", "--project", "integration", "--coverage.enabled", "--coverage.provider=v8"],
      ...["--coverage.reporter=json", "--coverage.reporter=text", "--coverage.exclude=**/*.test.ts", "--coverage.reportOnFailure"],
      ...include,
      ...files,
    ],
    { cwd: CHECKOUT, stdio: "inherit" },
  );
  const report: Record<string, FileCoverage> = JSON.parse(readFileSync(REPORT, "utf8"));
  const lines = Object.entries(report).flatMap(([path, coverage]) =>
    unreached(refusalsIn(path, readFileSync(path, "utf8")), coverage).map(
      ({ line, what }) => `${relative(CHECKOUT, path)}:${line}: ${what}`,
    ),
  );
  for (const line of lines) console.log(line);
  console.log(lines.length === 0 ? "every refusal is reached by a test" : `${lines.length} refusals are reached by no test`);
  return status !== 0 || lines.length > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
