import { median, type Row, rowOf } from "../row.ts";
import { mcpTargets, type Target, type Targets } from "./mcp-targets.ts";
import type { NodeGateway } from "./node-gateway.ts";
import type { Place, Running } from "./place.ts";
import { type Turn, takeTurns, warmUp } from "./turns.ts";
import { callersText } from "./wrk.ts";

const CALLERS = [1, 32, 256];
const MEGABYTE = 1e6;

/** Calls of one tool through our Node host, through nginx, the original's and two npm gateways, and to the tool itself. */
export async function mcpCalls(place: Place, gateway: NodeGateway & Running, say: (line: string) => void): Promise<Row[]> {
  const targets = await mcpTargets(place, gateway, say);
  const idle = idleRow(targets);
  const { ours, nginx, bare, peers, original } = targets;
  const able = [ours, nginx, bare, ...peers, ...(typeof original === "string" ? [] : [original])];
  say("warming up");
  await warmUp(able, place.folder);
  const rows: Row[] = [];
  let answered = 0;
  for (const callers of CALLERS) {
    const taking = able.filter(({ mostCallers }) => mostCallers >= callers);
    const turns = await takeTurns(taking, { callers, folder: place.folder, say });
    answered += (turns.get(ours) ?? []).reduce((sum, { calls }) => sum + calls, 0);
    rows.push(...rowsOf(targets, turns, callers));
  }
  const recorded = await gateway.recordedCalls();
  if (recorded < answered) throw new Error(`${answered} calls were answered, and only ${recorded} are in the trajectory`);
  return [...rows, idle];
}

/** What a gateway holds that nobody has called yet. */
function idleRow({ ours, peers, original }: Targets): Row {
  const held = ({ program }: Target) => [program.residentBytes() / MEGABYTE];
  const [peer] = peers;
  if (peer === undefined) throw new Error("no npm peer");
  return rowOf({
    bench: "gateway",
    metric: `memory of an idle Node host, which is one deployment; ${peer.name}`,
    unit: "MB",
    ours: held(ours),
    peer: held(peer),
    beyond: false,
    original: typeof original === "string" ? original : held(original),
  });
}

function rowsOf(targets: Targets, turns: ReadonlyMap<Target, readonly Turn[]>, callers: number): Row[] {
  const { ours, nginx, bare, peers, original } = targets;
  const of = (target: Target, figure: keyof Turn): number[] => (turns.get(target) ?? []).map((turn) => turn[figure]);
  const originals = (figure: keyof Turn) => (typeof original === "string" ? original : of(original, figure));
  const row = (what: string, unit: Row["unit"], figure: keyof Turn, peer: Target, bar?: Row["bar"]): Row =>
    rowOf({
      bench: "gateway",
      metric: `/mcp tools/call, ${callersText(callers)}: ${what}; ${peer.name}`,
      unit,
      ours: of(ours, figure),
      peer: of(peer, figure),
      beyond: false,
      original: originals(figure),
      ...(bar === undefined ? {} : { bar }),
    });
  const [fastest] = peers.filter((peer) => turns.has(peer)).sort((a, b) => median(of(b, "perSecond")) - median(of(a, "perSecond")));
  const at32 = callers === 32;
  const calls = (peer: Target, atLeast: number) => row("calls", "/s", "perSecond", peer, at32 ? { atLeast } : undefined);
  return [
    calls(nginx, 0.25),
    row("calls", "/s", "perSecond", bare),
    ...(fastest === undefined ? [] : [calls(fastest, 2)]),
    ...(typeof original === "string" ? [] : [calls(original, 50)]),
    row("median time", "ms", "p50Ms", nginx, callers === 1 ? { atMost: 5 } : undefined),
    spread(of(ours, "p99Ms"), of(ours, "p50Ms"), callers),
    row("processor time a call", "µs", "cpuMicros", nginx),
    ...(fastest === undefined ? [] : [row("processor time a call", "µs", "cpuMicros", fastest)]),
  ];
}

function spread(p99: readonly number[], p50: readonly number[], callers: number): Row {
  return rowOf({
    bench: "gateway",
    metric: `/mcp tools/call, ${callersText(callers)}: the 99th percentile; the median`,
    unit: "ms",
    ours: p99,
    peer: p50,
    beyond: false,
    ...(callers === 32 ? { bar: { atMost: 6 } } : {}),
  });
}
