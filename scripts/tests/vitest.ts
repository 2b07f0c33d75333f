import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { lastLines } from "../setup/command.ts";
import type { Tier } from "../setup/part.ts";
import { runVisibly } from "./visible-command.ts";

/** How a tier's tests ended. */
export type TierResult = {
  readonly tier: Tier;
  readonly passed: number;
  readonly failed: number;
  /** Full names of the tests that were skipped. */
  readonly skipped: readonly string[];
  readonly seconds: number;
  /** The tests that failed, each with the start of why, and what else went wrong: a file that can't be loaded, a run that was cut. */
  readonly trouble: string | null;
  /** What the runner printed, when it wasn't shown. */
  readonly output: string;
};

/** The part of vitest's JSON report that is counted. */
const REPORT = z.object({
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) })),
    }),
  ),
});
export type Report = z.infer<typeof REPORT>;

/** What of a failure is told: enough to know it by, its whole text is in the runner's own output. */
const REASON_LINES = 2;
const REASON_LENGTH = 200;

/** Runs one tier's tests and counts them. With `show`, the runner's own report is printed while it runs. */
export async function runTier(tier: Tier, options: { budgetSeconds: number; show: boolean }): Promise<TierResult> {
  const folder = mkdtempSync(join(tmpdir(), "agent-env-tests-"));
  const file = join(folder, "report.json");
  const started = performance.now();
  try {
    const args = ["run", "--project", tier, "--passWithNoTests", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const ended = await runVisibly("vitest", args, options);
    const seconds = (performance.now() - started) / 1000;
    if (ended.code === null) {
      return { tier, passed: 0, failed: 1, skipped: [], seconds, trouble: `cut after ${options.budgetSeconds} s`, output: ended.output };
    }
    return { tier, seconds, output: ended.output, ...countReport(readReport(file), ended) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a report says in numbers. A file that failed without a failed test counts as one, and so does a run that failed for no test's sake. */
export function countReport(
  report: Report | null,
  ended: { code: number | null; output: string },
): Omit<TierResult, "tier" | "seconds" | "output"> {
  if (report === null)
    return { passed: 0, failed: 1, skipped: [], trouble: lastLines(ended.output, 15) || `vitest ended with ${ended.code}` };
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  const passed = tests.filter(({ status }) => status === "passed").length;
  const failedTests = tests.filter(({ status }) => status === "failed");
  const failed = failedTests.length + brokenFiles.length;
  const skipped = tests.filter(({ status }) => status !== "passed" && status !== "failed").map(({ fullName }) => fullName);
  const trouble = [
    ...failedTests.map(({ fullName, failureMessages }) => [`× ${fullName}`, ...reasonOf(failureMessages)].join("\n    ")),
    ...brokenFiles.map(({ name, message }) => `× ${name}: ${message ?? "failed"}`),
  ];
  if (failed === 0 && ended.code !== 0) {
    return { passed, failed: 1, skipped, trouble: `vitest ended with ${ended.code}: ${lastLines(ended.output, 15)}` };
  }
  return { passed, failed, skipped, trouble: trouble.length > 0 ? trouble.join("\n") : null };
}

/** The first lines of the first failure, without colours and stack. */
function reasonOf([first = ""]: readonly string[]): string[] {
  const lines = stripVTControlCharacters(first)
    .split("\n")
    .map((line) => line.trim());
  const said = lines.filter((line) => line !== "" && !line.startsWith("at ")).slice(0, REASON_LINES);
  return said.map((line) => (line.length > REASON_LENGTH ? `${line.slice(0, REASON_LENGTH)}…` : line));
}

function readReport(file: string): Report | null {
  try {
    return REPORT.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    // Written at the end only: without it the runner stopped before, and its output says why.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
