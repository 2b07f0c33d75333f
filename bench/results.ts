import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type LongForm, longForms } from "./long-forms.ts";
import { machineLine } from "./machine.ts";
import { type Row, UNITS, verdict } from "./row.ts";

const JSON_FILE = fileURLToPath(new URL("results.json", import.meta.url));
const TEXT_FILE = fileURLToPath(new URL("RESULTS.md", import.meta.url));

/** A load above this says that something else ran: such figures are to be measured again. */
const QUIET_LOAD = 1;

const Measured = z.object({
  bench: z.string(),
  about: z.string(),
  at: z.string(),
  machine: z.string(),
  /** Of the minute before it began; null: it wasn't noted. */
  load: z.number().nullable(),
  rows: z.array(
    z.object({
      bench: z.string(),
      metric: z.string(),
      unit: z.enum(UNITS),
      ours: z.number(),
      peer: z.number(),
      value: z.number(),
      ratio: z.number(),
      original: z.union([z.number(), z.string()]).optional(),
      bar: z
        .union([z.object({ atLeast: z.number() }), z.object({ atMost: z.number() })])
        .and(z.object({ of: z.literal("value").optional() }))
        .optional(),
    }),
  ),
});
type Measured = z.infer<typeof Measured>;

/** The load of the last minute, to two digits. */
export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** Keeps what one bench has given, in place of what it gave before, and writes the table anew. */
export function keepResults(measured: {
  readonly bench: string;
  readonly about: string;
  readonly load: number;
  readonly rows: readonly Row[];
}): void {
  const earlier = existsSync(JSON_FILE) ? z.array(Measured).parse(JSON.parse(readFileSync(JSON_FILE, "utf8"))) : [];
  const now = Measured.parse({ ...measured, at: new Date().toISOString().slice(0, 16), machine: machineLine() });
  const all = [...earlier.filter(({ bench }) => bench !== now.bench), now].sort((a, b) => (a.bench < b.bench ? -1 : 1));
  writeFileSync(JSON_FILE, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(TEXT_FILE, resultsText(all, longForms()));
}

/** `RESULTS.md`: every bench's rows, with when, where and how they were measured, and what long forms of tests have counted. */
export function resultsText(all: readonly Measured[], long: readonly LongForm[] = []): string {
  const rows = all.flatMap((one) =>
    one.rows.map(({ bench, metric, unit, ours, peer, value, ratio, original, bar }) => {
      const theirs =
        original === undefined ? "" : typeof original === "number" ? `${original} ${unit}` : `none: ${original.replaceAll("|", "\\|")}`;
      return `| ${bench} | ${metric} | ${value} ${unit} | ${ours} ${unit} | ${peer} ${unit} | ${ratio} | ${verdict({ ratio, value, unit, bar })} | ${theirs} |`;
    }),
  );
  const runs = all.map(({ bench, about, at, load, machine }) => {
    const busy = load !== null && load > QUIET_LOAD ? " **To be measured again: the machine was busy.**" : "";
    return `| ${bench} | ${about} | ${at} UTC, load ${load ?? "not noted"}.${busy} | ${machine} |`;
  });
  return [
    "# Results of the benches",
    "",
    "Written by `npm run bench -- all`, or by `npm run bench -- NAME` for one; the figures are in `results.json` too. In one run ours and",
    "its peer take turns, five times or more; the figures are medians. Trust the ratios, not the digits, and compare a change by",
    "running both versions.",
    "",
    "| bench | metric | value | ours | peer | ours / peer | asked of it | the Python original |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "| bench | what is measured | when | machine |",
    "| --- | --- | --- | --- |",
    ...runs,
    "",
    "Counted by the long forms of tests (`npm run test:long`):",
    "",
    "| test | counted | when | machine |",
    "| --- | --- | --- | --- |",
    ...long.map(({ test, figure, at, machine }) => `| ${test} | ${figure} | ${at} UTC | ${machine} |`),
    "",
  ].join("\n");
}
