import { median } from "../row.ts";
import type { Target } from "./mcp-targets.ts";
import { openSessions } from "./sessions.ts";
import { callersText, callLoad, type Load } from "./wrk.ts";

const ROUNDS = 5;
/** The fewer callers, the sooner their calls are over. */
const secondsWith = (callers: number): number => (callers === 1 ? 1 : 2);
const CHECK_SECONDS = 1;
/** What runs in V8 is at its speed after some thousand calls. */
const WARM_SECONDS = 4;
const WARM_CALLERS = 32;

/** One load, and what of processor time the gateway took for a call. */
export type Turn = Load & { readonly cpuMicros: number };

/** Calls each target for a while, before anything of it is measured. */
export async function warmUp(targets: readonly Target[], folder: string): Promise<void> {
  for (const { name, endpoint } of targets) {
    const sessions = await openSessions(folder, `warm ${name}`.replaceAll(" ", "-"), endpoint, 1);
    await callLoad({ ...endpoint, callers: WARM_CALLERS, seconds: WARM_SECONDS, sessions });
  }
}

/** Lets targets take turns with so many callers, five times. Before, answers of each are read. */
export async function takeTurns(
  targets: readonly Target[],
  { callers, folder, say }: { callers: number; folder: string; say: (line: string) => void },
): Promise<Map<Target, Turn[]>> {
  const sessions = new Map<Target, string | null>();
  for (const target of targets) {
    const { endpoint, name } = target;
    const file = await openSessions(folder, name.replaceAll(" ", "-"), endpoint, callers);
    await callLoad({ ...endpoint, callers: 1, seconds: CHECK_SECONDS, sessions: file, reads: "checked" });
    sessions.set(target, file);
  }
  return await loadsByTurns(targets, { callers, say }, (target, seconds) =>
    callLoad({ ...target.endpoint, callers, seconds, sessions: sessions.get(target) ?? null }),
  );
}

/** Loads targets by turns, five times. `load` does it once, with so many callers. */
export async function loadsByTurns<T extends Pick<Target, "name" | "program">>(
  targets: readonly T[],
  { callers, say }: { callers: number; say: (line: string) => void },
  load: (target: T, seconds: number) => Promise<Load>,
): Promise<Map<T, Turn[]>> {
  const turns = new Map<T, Turn[]>(targets.map((target) => [target, []]));
  for (let round = 1; round <= ROUNDS; round++) {
    say(`round ${round} of ${ROUNDS} with ${callersText(callers)}: ${targets.map(({ name }) => name).join(", ")}`);
    for (const [target, taken] of turns) {
      const before = target.program.cpuSeconds();
      const turn = await load(target, secondsWith(callers));
      taken.push({ ...turn, cpuMicros: (1e6 * (target.program.cpuSeconds() - before)) / Math.max(1, turn.calls) });
    }
  }
  for (const [{ name }, taken] of turns)
    if (median(taken.map(({ calls }) => calls)) === 0) throw new Error(`${name}: no call was over in most of its turns`);
  return turns;
}
