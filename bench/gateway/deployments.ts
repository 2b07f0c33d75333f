import { type Row, rowOf, secondsOf } from "../row.ts";
import { type EdgeGateway, startEdge } from "./edge-gateway.ts";
import type { Place } from "./place.ts";
import { takeTurns, warmUp } from "./turns.ts";

const MANY = 1_000;
const GROUP = 100;
const AT_ONCE = 4;
const CALLERS = 32;
/** What counts as flat on a machine that others use as well. */
const FLAT = { atMost: 1.2 };
const KILOBYTE = 1e3;

/** What a deployment costs when it is one of a thousand in one process, and when it is the only one. */
export async function deployments(place: Place, say: (line: string) => void): Promise<Row[]> {
  const alone = await startEdge(place, "one-deployment");
  const among = await startEdge(place, "many-deployments");
  await Promise.all([alone.ready("one"), among.ready("one")]);
  const groups: { readonly ms: number; readonly kilobytes: number }[] = [];
  for (let from = 0; from < MANY - 1; from += GROUP) {
    say(`starting deployments ${from + 1} to ${Math.min(from + GROUP, MANY - 1)} beside the first`);
    const count = Math.min(GROUP, MANY - 1 - from);
    const before = among.residentBytes();
    const seconds = await secondsOf(() => readyAll(among, from, count));
    groups.push({ ms: (1000 * seconds) / count, kilobytes: (among.residentBytes() - before) / KILOBYTE / count });
  }
  const [, ...later] = groups;
  const half = Math.floor(later.length / 2);
  const compared = (of: "ms" | "kilobytes") => ({
    ours: later.slice(-half).map((group) => group[of]),
    peer: later.slice(0, half).map((group) => group[of]),
  });
  const shared = { bench: "gateway", beyond: false } as const;
  const [ours, peer] = [await among.target("one", `one of ${MANY}`), await alone.target("one", "the only one")];
  await warmUp([ours, peer], place.folder);
  const turns = await takeTurns([ours, peer], { callers: CALLERS, folder: place.folder, say });
  const times = { ours: (turns.get(ours) ?? []).map(({ p50Ms }) => p50Ms), peer: (turns.get(peer) ?? []).map(({ p50Ms }) => p50Ms) };
  return [
    rowOf({
      ...shared,
      metric: `starting one of ${MANY} deployments: of the last; of the first`,
      unit: "ms",
      ...compared("ms"),
      bar: FLAT,
    }),
    rowOf({
      ...shared,
      metric: `memory of one of ${MANY} idle deployments: of the last; of the first`,
      unit: "kB",
      ...compared("kilobytes"),
      bar: FLAT,
    }),
    rowOf({
      ...shared,
      metric: `tools/call, ${CALLERS} callers, to one of ${MANY} deployments: median time; to the only one`,
      unit: "ms",
      ...times,
      bar: FLAT,
    }),
  ];
}

async function readyAll(gateway: EdgeGateway, from: number, count: number): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    for (let at = next++; at < from + count; at = next++) await gateway.ready(`d${at}`);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
