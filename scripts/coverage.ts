import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { engineProblem } from "../build-service/src/images/engine.ts";
import { ELSEWHERE, type Elsewhere } from "./coverage/elsewhere.ts";
import { type FileCoverage, refusalsIn, unreached } from "./coverage/refusals.ts";

const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = fileURLToPath(new URL("../build-service/src", import.meta.url));
const REPORT = new URL("../coverage/coverage-final.json", import.meta.url);
/** Where every branch that refuses something has a test. */
const FOLDERS = ["bundle", "types", "images", "store"];
/** The tests that reach those, by project. Docker's need an Engine. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  unit: ["build-service/src"],
  integration: ["refusals", "store", "puts", "crash/races"].map((name) => `test/integration/${name}`),
  docker: ["build", "base-images", "ensure", "put-context"].map((name) => `test/docker/${name}.test`),
};

/**
 * Runs those tests (or the files that are named) with coverage, prints that of branches, and lists each place that refuses
 * something and that no test has reached; ends with 1 when there are any. What only a child process reaches doesn't count: a
 * refusal's text is compared where it arises.
 */
async function main(files: readonly string[]): Promise<number> {
  const include = FOLDERS.map((folder) => `--coverage.include=build-service/src/${folder}/**/*.ts`);
  const projects = Object.keys(TESTS).flatMap((name) => ["--project", name]);
  const { status } = spawnSync(
    "vitest",
    [
      ...["run", ...projects, "--coverage.enabled", "--coverage.provider=v8", "--coverage.reporter=json", "--coverage.reporter=text"],
      ...["--coverage.exclude=**/*.test.ts", "--coverage.reportOnFailure", ...include],
      ...(files.length > 0 ? files : Object.values(TESTS).flat()),
    ],
    { cwd: CHECKOUT, stdio: "inherit" },
  );
  const report: Record<string, FileCoverage> = JSON.parse(readFileSync(REPORT, "utf8"));
  const { missing, elsewhere, stale } = judged(report);
  if ((await engineProblem()) !== null) console.log("no Docker Engine answers: refusals that only a build meets are listed too");
  for (const { place, why } of elsewhere) console.log(`${place}\n  not here: ${why}`);
  for (const place of missing) console.log(place);
  for (const { file, text } of stale) console.log(`scripts/coverage/elsewhere.ts: ${file} ${JSON.stringify(text)}: reached, or not there`);
  console.log(missing.length === 0 ? "every refusal is reached by a test" : `${missing.length} refusals are reached by no test`);
  return status !== 0 || missing.length + stale.length > 0 ? 1 : 0;
}

function judged(report: Readonly<Record<string, FileCoverage>>) {
  const missing: string[] = [];
  const elsewhere: { place: string; why: string }[] = [];
  const used = new Set<Elsewhere>();
  for (const [path, coverage] of Object.entries(report)) {
    for (const { line, what, text } of unreached(refusalsIn(path, readFileSync(path, "utf8")), coverage)) {
      const place = `${relative(CHECKOUT, path)}:${line}: ${what}`;
      const known = ELSEWHERE.find(({ file, text: part }) => relative(SOURCES, path) === file && text.includes(part));
      if (known === undefined) missing.push(place);
      else {
        used.add(known);
        elsewhere.push({ place, why: known.why });
      }
    }
  }
  return { missing, elsewhere, stale: ELSEWHERE.filter((entry) => !used.has(entry)) };
}

process.exitCode = await main(process.argv.slice(2));
