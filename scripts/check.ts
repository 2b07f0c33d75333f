import { type CheckResult, runChecks } from "./check/parts.ts";

/** One line a part: how it ended, its counts, its time; below it what is wrong. */
function lineOf({ name, passed, failed, skipped, seconds, output }: CheckResult): string {
  const counts = passed + failed + skipped.length > 1 ? `${passed} passed, ${failed} failed, ${skipped.length} skipped` : "";
  const line = `${failed === 0 ? "ok  " : "FAIL"}  ${name.padEnd(17)} ${`${seconds.toFixed(1)} s`.padStart(7)}  ${counts}`;
  return failed === 0 ? `${line.trimEnd()}\n` : `${line.trimEnd()}\n${output.trimEnd()}\n`;
}

const results = await runChecks((result) => process.stdout.write(lineOf(result)));
process.exitCode = results.every(({ failed }) => failed === 0) ? 0 : 1;
