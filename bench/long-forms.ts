import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { machineLine } from "./machine.ts";

/** One file a test: several may end at once. */
const FOLDER = fileURLToPath(new URL("long-forms/", import.meta.url));

const LongForm = z.object({ test: z.string(), figure: z.string(), at: z.string(), machine: z.string() });
/** What the long form of a test has counted (`npm run test:long`). */
export type LongForm = z.infer<typeof LongForm>;

/** Says what a test has counted. With AGENT_ENV_TEST_LONG it is also kept for `RESULTS.md`, in place of what was counted before. */
export function sayFigure(test: string, figure: string): void {
  console.log(`${test}: ${figure}`);
  if (process.env["AGENT_ENV_TEST_LONG"] !== "1") return;
  const kept: LongForm = { test, figure, at: new Date().toISOString().slice(0, 16), machine: machineLine() };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}${test.replaceAll(/[^a-z0-9]+/gi, "-")}.json`, `${JSON.stringify(kept, null, 2)}\n`);
}

/** All that is kept, by the names of the tests. */
export function longForms(): LongForm[] {
  const files = readdirSync(FOLDER, { withFileTypes: true }).filter((file) => file.isFile());
  return files
    .map(({ name }) => LongForm.parse(JSON.parse(readFileSync(FOLDER + name, "utf8"))))
    .sort((a, b) => (a.test < b.test ? -1 : 1));
}
