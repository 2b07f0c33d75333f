import { fileURLToPath } from "node:url";
import type { Target } from "./gateway/mcp-targets.ts";
import { type BarePlace, newBarePlace, type Running } from "./gateway/place.ts";
import { startProgram } from "./gateway/program.ts";
import { loadsByTurns, type Turn, takeTurns, warmUp } from "./gateway/turns.ts";
import { callersText, getLoad } from "./gateway/wrk.ts";
import { type Bench, type Row, rowOf } from "./row.ts";

const CALLERS = [1, 32];
/** Of what the bare one does in the same time. */
const LEAST = 0.5;
const WARM_SECONDS = 4;

type Pair<T> = { readonly ours: T; readonly bare: T };

/** What the SDK costs an environment: page views and tool calls, without a gateway. All of it on loopback. */
export const sdk: Bench = {
  name: "sdk",
  about:
    "a website written with our SDK, of one page and one tool, and the same page in Hono and the same tool in a server of the official MCP package behind it, with nothing else",

  async run(say) {
    await using place = newBarePlace();
    const ours = await startServer(place, "site.ts");
    const bare = await startServer(place, "bare.ts");
    const eras = [
      { era: "legacy", endpoint: {} },
      { era: "modern", endpoint: { era: "modern" } },
    ] as const;
    const rows = await pageRows({ ours, bare }, say);
    for (const { era, endpoint } of eras) {
      const target = (name: string, program: Running): Target => ({
        name: `${name} ${era}`,
        program,
        mostCallers: 32,
        endpoint: { url: `http://127.0.0.1:${program.port}/mcp`, token: null, ...endpoint },
      });
      const targets = { ours: target("ours", ours), bare: target("bare", bare) };
      say(`warming up: calls, ${era} era`);
      await warmUp([targets.ours, targets.bare], place.folder);
      for (const callers of CALLERS) {
        const turns = await takeTurns([targets.ours, targets.bare], { callers, folder: place.folder, say });
        const of = { ours: turns.get(targets.ours) ?? [], bare: turns.get(targets.bare) ?? [] };
        rows.push(...rowsOf({ what: `tools/call, ${era} era`, each: "call", peer: "the bare MCP server", callers }, of));
      }
    }
    return rows;
  },
};

function startServer({ folder, start }: BarePlace, file: string): Promise<Running> {
  return start((port) => {
    const argv = [process.execPath, fileURLToPath(new URL(`sdk/${file}`, import.meta.url)), String(port)];
    return startProgram({ name: file, folder, argv, readyUrl: `http://127.0.0.1:${port}/` });
  });
}

async function pageRows(programs: Pair<Running>, say: (line: string) => void): Promise<Row[]> {
  const target = (name: string, program: Running) => ({ name: `${name} page`, program, url: `http://127.0.0.1:${program.port}/` });
  const targets = { ours: target("ours", programs.ours), bare: target("bare", programs.bare) };
  const [page, same] = await Promise.all([targets.ours, targets.bare].map(async ({ url }) => await (await fetch(url)).text()));
  if (page !== same) throw new Error(`${targets.ours.url} and ${targets.bare.url} serve different pages`);
  const rows: Row[] = [];
  say("warming up: pages");
  for (const { url } of Object.values(targets)) await getLoad({ url, callers: 32, seconds: WARM_SECONDS, token: null });
  for (const callers of CALLERS) {
    const turns = await loadsByTurns([targets.ours, targets.bare], { callers, say }, ({ url }, seconds) =>
      getLoad({ url, callers, seconds, token: null }),
    );
    const of = { ours: turns.get(targets.ours) ?? [], bare: turns.get(targets.bare) ?? [] };
    rows.push(...rowsOf({ what: "a page of 5 kB", each: "view", peer: "the bare Hono app", callers }, of));
  }
  return rows;
}

type Measured = { readonly what: string; readonly each: "call" | "view"; readonly peer: string; readonly callers: number };

function rowsOf({ what, each, peer, callers }: Measured, { ours, bare }: Pair<readonly Turn[]>): Row[] {
  const row = (name: string, unit: Row["unit"], figure: keyof Turn, bar?: Row["bar"]): Row =>
    rowOf({
      bench: "sdk",
      metric: `${what}, ${callersText(callers)}: ${name}; ${peer}`,
      unit,
      ours: ours.map((turn) => turn[figure]),
      peer: bare.map((turn) => turn[figure]),
      beyond: false,
      ...(bar === undefined ? {} : { bar }),
    });
  return [
    row(`${each}s`, "/s", "perSecond", callers === 32 ? { atLeast: LEAST } : undefined),
    row(`processor time a ${each}`, "µs", "cpuMicros"),
  ];
}
