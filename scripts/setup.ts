import { parseArgs } from "node:util";
import { thisMachine } from "./setup/machine.ts";
import { type Found, TIERS, type Tier } from "./setup/part.ts";
import { BENCH_PARTS, LONG_PARTS, lookAt, mendParts, partsFor } from "./setup/parts.ts";

const USAGE = `npm run setup -- [--tier TIER]… [--bench] [--long] [--look]

Gets ready what the tests need: a Docker Engine, base images, a registry, PostgreSQL, Chromium, Python, npm packages of others. On Debian as root it installs and starts
what is missing; elsewhere it says what is missing and how to get it (exit code 2).
  --tier TIER   only what this tier needs: ${TIERS.join(", ")}
  --bench       what npm run bench -- gateway needs: wrk, nginx, gateways from npm; without --tier nothing else
  --long        what npm run test:long needs beside: development servers from npm; without --tier nothing else
  --look        only look, and change nothing
`;

const { values } = parseArgs({
  options: {
    tier: { type: "string", multiple: true },
    bench: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    look: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

function isTier(name: string): name is Tier {
  return TIERS.some((tier) => tier === name);
}

function line(name: string, found: Found): string {
  const text = found.state === "missing" ? `${found.why}\n${" ".repeat(22)}Next: ${found.next}` : found.detail;
  return `${name.padEnd(12)}${found.state.padEnd(10)}${text}\n`;
}

async function main(): Promise<number> {
  const unknown = (values.tier ?? []).filter((name) => !isTier(name));
  if (values.help || unknown.length > 0) {
    process.stdout.write(unknown.length > 0 ? `--tier: no tier ${JSON.stringify(unknown[0])}\n\n${USAGE}` : USAGE);
    return unknown.length > 0 ? 2 : 0;
  }
  const started = performance.now();
  const machine = thisMachine();
  const tiers = values.tier ?? (values.bench || values.long ? [] : [...TIERS]);
  const parts = [...partsFor(tiers.filter(isTier)), ...(values.bench ? BENCH_PARTS : []), ...(values.long ? LONG_PARTS : [])];
  const plan = await lookAt(parts, machine);
  const found = values.look ? plan : await mendParts(plan, machine, (text) => process.stdout.write(`${text}\n`));
  for (const [part, state] of found) process.stdout.write(line(part.name, state));
  process.stdout.write(`setup ended after ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  return [...found.values()].every(({ state }) => state === "ready") ? 0 : 2;
}

process.exitCode = await main();
