import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.ts";
import { deploy } from "./deploy.ts";
import { dryRun } from "./dry-run.ts";
import { gateway } from "./gateway.ts";
import { machineLine } from "./machine.ts";
import { plan } from "./plan.ts";
import { keepResults, loadNow } from "./results.ts";
import { type Row, verdict } from "./row.ts";
import { sdk } from "./sdk.ts";
import { store } from "./store.ts";

/** One file a bench, and one line here. */
const BENCHES = [dryRun, plan, store, build, deploy, gateway, sdk];
const USAGE = `npm run bench -- NAME… [--json FILE]

Measures ours and a peer by turns, in one run, and writes bench/RESULTS.md. build and deploy need a Docker Engine,
gateway needs wrk and nginx, sdk wrk: npm run setup -- --bench
${BENCHES.map(({ name, about }) => `  ${name.padEnd(9)} ${about}`).join("\n")}
  all       each of them
`;

function table(rows: readonly Row[]): string {
  const line = ({ bench, metric, unit, ours, peer, value, ratio, bar }: Row) =>
    `| ${bench} | ${metric} | ${value} ${unit} | ${ours} ${unit} | ${peer} ${unit} | ${ratio} | ${verdict({ ratio, value, unit, bar })} |`;
  const head = "| bench | metric | value | ours | peer | ours / peer | asked of it |\n| --- | --- | --- | --- | --- | --- | --- |";
  return [head, ...rows.map(line)].join("\n");
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: "string" }, help: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.filter((name) => name !== "all" && !BENCHES.some((bench) => bench.name === name));
  if (values.help || positionals.length === 0 || unknown.length > 0) {
    process.stdout.write(unknown.length > 0 ? `no bench ${JSON.stringify(unknown[0])}\n\n${USAGE}` : USAGE);
    return values.help ? 0 : 2;
  }
  const rows: Row[] = [];
  for (const bench of BENCHES.filter(({ name }) => positionals.includes(name) || positionals.includes("all"))) {
    process.stderr.write(`${bench.name}: ${bench.about}\n`);
    const load = loadNow();
    const measured = await bench.run((line) => void process.stderr.write(`${bench.name}: ${line}\n`));
    keepResults({ bench: bench.name, about: bench.about, load, rows: measured });
    rows.push(...measured);
  }
  process.stdout.write(`${table(rows)}\n\n${machineLine()}\n`);
  if (values.json !== undefined) writeFileSync(resolve(process.env["INIT_CWD"] ?? ".", values.json), `${JSON.stringify(rows, null, 2)}\n`);
  return 0;
}

process.exitCode = await main();
