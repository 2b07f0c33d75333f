import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun } from "../scripts/setup/command.ts";
import { type Bench, rowOf, secondsOf } from "./row.ts";

const FILES = 10_000;
const FILE_BYTES = 1_000;
const ROUNDS = 5;
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A dry run that finds nothing to do has to read and hash every file: what does it take beyond that? */
export const dryRun: Bench = {
  name: "dry-run",
  about: `agent-env run --dry-run on a bundle of ${FILES} files that has just been run, and a program that walks and hashes the same files`,

  async run(say) {
    const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
    try {
      const bundle = makeBundle(folder);
      const env = { ...process.env, AGENT_ENV_STATE_DIR: join(folder, "state") };
      const agentEnv = (...argv: string[]) =>
        mustRun(process.execPath, [here("../build-service/bin/agent-env.js"), ...argv], { budgetSeconds: 300, env });
      const walk = () => mustRun(process.execPath, [here("walk-and-hash.ts"), bundle], { budgetSeconds: 60 });
      say("running the bundle once");
      await agentEnv("run", bundle, "--sandbox", "process");
      const ours: number[] = [];
      const peer: number[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        say(`round ${round} of ${ROUNDS}`);
        ours.push(1000 * (await secondsOf(() => agentEnv("run", bundle, "--dry-run", "--sandbox", "process"))));
        peer.push(1000 * (await secondsOf(walk)));
      }
      return [rowOf({ bench: "dry-run", metric: `no-op dry run, ${FILES} files, whole command`, unit: "ms", ours, peer, beyond: false })];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The example `hello`, with the files in the folder of one of its envs. */
function makeBundle(folder: string): string {
  const bundle = join(folder, "bundle");
  cpSync(here("../examples/hello"), bundle, { recursive: true });
  for (let index = 0; index < FILES; index++) {
    const data = join(bundle, "envs", "greeter", "data", String(index % 100));
    if (index < 100) mkdirSync(data, { recursive: true });
    writeFileSync(join(data, `${index}.txt`), `${index}\n`.repeat(FILE_BYTES).slice(0, FILE_BYTES));
  }
  return bundle;
}
