import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../../test/fixtures/until.ts";

/** What makes a Node program tell how long its event loop was held up. */
export type Paused = {
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The longest pause since this was last asked. */
  longestMs(pid: number): Promise<number>;
};

/** Options and environment of a program by that name. */
export function paused(folder: string, name: string): Paused {
  const file = join(folder, `${name}.pauses`);
  return {
    options: ["--import", fileURLToPath(new URL("pauses.ts", import.meta.url))],
    env: { BENCH_PAUSES: file },
    longestMs: async (pid) => {
      rmSync(file, { force: true });
      process.kill(pid, "SIGUSR2");
      await until(`${name} says how long it paused`, 10_000, () => existsSync(file) && readFileSync(file, "utf8") !== "");
      return Number(readFileSync(file, "utf8"));
    },
  };
}
