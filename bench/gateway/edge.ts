import { type Row, rowOf } from "../row.ts";
import { startEdge } from "./edge-gateway.ts";
import type { Place } from "./place.ts";
import { type Turn, takeTurns, warmUp } from "./turns.ts";
import { startWorker } from "./workerd.ts";
import { callersText } from "./wrk.ts";

const CALLERS = [1, 32];

/** Calls through the Worker host, and through a Worker and an object that only pass them on. */
export async function edge(place: Place, say: (line: string) => void): Promise<Row[]> {
  const { folder } = place;
  const gateway = await startEdge(place, "edge");
  const texts = { SERVER: `http://127.0.0.1:${place.echo.port}/mcp` };
  const program = await place.start((port) => startWorker({ name: "hop", entry: "object-hop.js", folder, port, texts }));
  const hop = { name: "hop", program, mostCallers: 256, endpoint: { url: `http://127.0.0.1:${program.port}/mcp`, token: null } };
  await gateway.ready("one");
  const ours = await gateway.target("one", "edge");
  await warmUp([ours, hop], folder);
  const rows: Row[] = [];
  for (const callers of CALLERS) {
    const turns = await takeTurns([ours, hop], { callers, folder, say });
    const row = (what: string, unit: Row["unit"], figure: keyof Turn, bar?: Row["bar"]): Row =>
      rowOf({
        bench: "gateway",
        metric: `Worker host, tools/call, ${callersText(callers)}: ${what}; a bare hop through an object`,
        unit,
        ours: (turns.get(ours) ?? []).map((turn) => turn[figure]),
        peer: (turns.get(hop) ?? []).map((turn) => turn[figure]),
        beyond: false,
        ...(bar === undefined ? {} : { bar }),
      });
    rows.push(row("calls", "/s", "perSecond", { atLeast: 0.8 }));
    rows.push(row("median time", "ms", "p50Ms"));
    rows.push(row("99th percentile", "ms", "p99Ms"));
    rows.push(row("processor time a call", "µs", "cpuMicros"));
  }
  return rows;
}
