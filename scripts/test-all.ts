import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runChecks } from "./check/parts.ts";
import { thisMachine } from "./setup/machine.ts";
import type { Found, Part, Tier } from "./setup/part.ts";
import { lookAt, mendParts, PARTS } from "./setup/parts.ts";
import { type Outcome, reasonToSkip, skippedTier, strict, totalsLine, totalsOf } from "./tests/totals.ts";
import { runTier } from "./tests/vitest.ts";

const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));
/** The unit tests are part of the check. The budgets end what hangs; together they stay under two hours. */
const TIERS: readonly { tier: Tier; files: string; budgetSeconds: number }[] = [
  { tier: "integration", files: "{test/integration,examples}/**/*.test.ts", budgetSeconds: 2100 },
  { tier: "docker", files: "test/docker/**/*.test.ts", budgetSeconds: 1200 },
  { tier: "interop", files: "test/interop/**/*.test.ts", budgetSeconds: 900 },
  { tier: "conformance", files: "test/conformance/**/*.test.ts", budgetSeconds: 900 },
  { tier: "browser", files: "test/browser/**/*.test.ts", budgetSeconds: 900 },
  { tier: "chaos", files: "test/chaos/**/*.test.ts", budgetSeconds: 900 },
];
/** Twelve failed tests, each with its name and two lines of why. */
const MOST_NOTE_LINES = 36;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const heading = (name: string) => say(`\n── ${name} ${"─".repeat(Math.max(3, 70 - name.length))}`);

async function main(): Promise<number> {
  const started = performance.now();
  heading("setup");
  const found = await setUp();
  heading("check");
  const outcomes: Outcome[] = (
    await runChecks(({ name, failed, seconds }) => say(`${failed === 0 ? "ok  " : "FAIL"}  ${name}, ${seconds.toFixed(1)} s`))
  ).map(({ output, ...result }) => ({ ...result, note: output.trim() === "" ? null : output.trim() }));
  for (const { note } of outcomes) if (note !== null) say(note);
  for (const task of TIERS) {
    heading(task.tier);
    outcomes.push(await outcomeOf(task, found));
  }
  const judged = process.env["CI"] === "true" ? outcomes.map(strict) : outcomes;
  heading(`summary, ${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
  for (const outcome of judged) say(summaryLine(outcome));
  const totals = totalsOf(judged);
  if (totals.passed === 0) say("no test ran");
  say(totalsLine(totals));
  return totals.failed > 0 || totals.passed === 0 ? 1 : 0;
}

async function setUp(): Promise<Map<Part, Found>> {
  const machine = thisMachine();
  const found = await mendParts(await lookAt(PARTS, machine), machine, say);
  for (const [{ name }, state] of found) say(`${name}: ${state.state === "missing" ? `${state.why}. Next: ${state.next}` : state.detail}`);
  return found;
}

async function outcomeOf(task: (typeof TIERS)[number], found: ReadonlyMap<Part, Found>): Promise<Outcome> {
  const { tier, files, budgetSeconds } = task;
  if (globSync(files, { cwd: CHECKOUT, exclude: ["**/node_modules"] }).length === 0) {
    say("there are no such tests yet");
    return { name: tier, passed: 0, failed: 0, skipped: [], seconds: 0, note: "there are no such tests yet" };
  }
  const reason = reasonToSkip(tier, found);
  if (reason !== null) {
    say(`not run: ${reason}`);
    return skippedTier(tier, reason);
  }
  const { passed, failed, skipped, seconds, trouble } = await runTier(tier, { budgetSeconds, show: true });
  return { name: tier, passed, failed, skipped, seconds, note: trouble };
}

function summaryLine({ name, passed, failed, skipped, seconds, note }: Outcome): string {
  const counts = `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`;
  const firstOfNote =
    note === null
      ? ""
      : `\n${note
          .split("\n")
          .slice(0, MOST_NOTE_LINES)
          .map((line) => `      ${line}`)
          .join("\n")}`;
  return `${failed === 0 ? "ok  " : "FAIL"}  ${name.padEnd(17)} ${`${seconds.toFixed(1)} s`.padStart(8)}  ${counts}${firstOfNote}`;
}

process.exitCode = await main();
