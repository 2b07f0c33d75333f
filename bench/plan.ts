import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun } from "../scripts/setup/command.ts";
import { cannot, originalCommand, originalHome } from "./original.ts";
import { makePlanBundle, writeBundle } from "./plan-bundle.ts";
import { type Bench, type Row, rowOf, secondsOf } from "./row.ts";

const ROUNDS = 5;
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const SIZES = [
  { what: "1 env of 10000 files", envs: 1, filesEach: 10_000, fileBytes: 1_000 },
  { what: "100 envs of 20 files", envs: 100, filesEach: 20, fileBytes: 1_000 },
];

/** Planning, by a command of its own each time: with an empty store, and with one that holds all of it. */
export const plan: Bench = {
  name: "plan",
  about:
    "bundle plan of many files and of many envs, a program that walks and hashes the same files, and the original's `run --dry-run` of the same folder (with stand-ins for the Docker plugins that it looks for)",

  async run(say) {
    const original = await originalCommand(say);
    const rows: Row[] = [];
    for (const size of SIZES) {
      const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
      try {
        const bundle = makePlanBundle(folder, size);
        const theirEnv = originalHome(join(folder, "home"));
        const theirs = "why" in original ? null : [...original.argv, "run", bundle, "--dry-run"];
        const why = "why" in original ? original.why : await cannot(theirs ?? [], theirEnv);
        for (const isWarm of [false, true]) {
          const stateDir = join(folder, isWarm ? "state" : "none");
          if (isWarm) await writeBundle(bundle, stateDir);
          const ours: number[] = [];
          const peer: number[] = [];
          const originals: number[] = [];
          const argv = [here("../build-service/bin/agent-env.js"), "bundle", "plan", bundle, "--sandbox", "process"];
          for (let round = 1; round <= ROUNDS; round++) {
            say(`${size.what}, ${isWarm ? "warm" : "cold"}: round ${round} of ${ROUNDS}`);
            const env = { ...process.env, AGENT_ENV_STATE_DIR: stateDir };
            ours.push(1000 * (await secondsOf(() => mustRun(process.execPath, argv, { budgetSeconds: 120, env }))));
            peer.push(1000 * (await secondsOf(() => mustRun(process.execPath, [here("walk-and-hash.ts"), bundle], { budgetSeconds: 60 }))));
            if (isWarm || why !== null || theirs === null) continue;
            const [program = "", ...rest] = theirs;
            originals.push(1000 * (await secondsOf(() => mustRun(program, rest, { budgetSeconds: 300, env: theirEnv }))));
          }
          const metric = `plan of ${size.what}, ${isWarm ? "nothing to do" : "nothing stored"}, whole command`;
          const lacking = isWarm ? "it writes only where it also builds" : (why ?? "");
          rows.push(
            rowOf({ bench: "plan", metric, unit: "ms", ours, peer, beyond: false, original: originals.length > 0 ? originals : lacking }),
          );
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    return rows;
  },
};
