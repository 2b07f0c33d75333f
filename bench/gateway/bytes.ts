import { fileURLToPath } from "node:url";
import { type Row, rowOf } from "../row.ts";
import { BIG, FILES, startProxy } from "./nginx.ts";
import { type NodeGateway, SITE_HOST } from "./node-gateway.ts";
import { paused } from "./paused.ts";
import type { Place, Running } from "./place.ts";
import { startProgram } from "./program.ts";
import { downloadSeconds, uploadSeconds } from "./transfer.ts";
import { callersText, getLoad, type Load } from "./wrk.ts";

const CALLERS = [1, 32];
const ROUNDS = 5;
const SECONDS = 1;
const LONGEST_PAUSE_MS = 20;

/** One way through our gateway, through a bare Node pipe, and through nginx. */
type Way = { readonly what: string; readonly path: string; readonly bare: string; readonly host?: string };
const WAYS: readonly Way[] = [
  { what: "/svc, 2 kB of JSON", path: `/svc/shop${FILES.json}`, bare: FILES.json },
  { what: "/website, 5 kB of HTML rewritten for its prefix", path: `/website/shop${FILES.page}`, bare: FILES.page },
  { what: "a site's own host, 5 kB of HTML", path: FILES.page, bare: FILES.page, host: SITE_HOST },
];

/** What streams through the Node host, and through a pipe in Node that does nothing else. */
export async function bytes(place: Place, gateway: NodeGateway, say: (line: string) => void): Promise<Row[]> {
  const { folder, echo, origin } = place;
  const pauses = paused(folder, "pipe");
  const startPipe = (name: string, to: number, options: readonly string[] = []) => {
    const file = fileURLToPath(new URL("bare-pipe.ts", import.meta.url));
    return place.start((port) => {
      const argv = [process.execPath, ...options, file, String(port), String(to)];
      return startProgram({ name, folder, argv, env: pauses.env, readyUrl: `http://127.0.0.1:${port}/` });
    });
  };
  const pipe = await startPipe("pipe", origin.port, pauses.options);
  const sinkPipe = await startPipe("sink-pipe", echo.port);
  const nginx = await place.start((port) => startProxy(folder, { port, echoPort: echo.port, originPort: origin.port }));
  const rows: Row[] = [];
  for (const way of WAYS) {
    for (const callers of CALLERS) {
      const loads = { ours: [] as Load[], pipe: [] as Load[], nginx: [] as Load[] };
      const pausesMs = { ours: [] as number[], pipe: [] as number[] };
      say(`${ROUNDS} rounds with ${callersText(callers)}: ${way.what}`);
      for (let round = 1; round <= ROUNDS; round++) {
        const more = { callers, seconds: SECONDS };
        await gateway.longestPauseMs();
        loads.ours.push(
          await getLoad({
            url: gateway.base + way.path,
            token: gateway.token,
            ...(way.host === undefined ? {} : { host: way.host }),
            ...more,
          }),
        );
        pausesMs.ours.push(await gateway.longestPauseMs());
        await pauses.longestMs(pipe.pid);
        loads.pipe.push(await getLoad({ url: `http://127.0.0.1:${pipe.port}${way.bare}`, token: null, ...more }));
        pausesMs.pipe.push(await pauses.longestMs(pipe.pid));
        loads.nginx.push(await getLoad({ url: `http://127.0.0.1:${nginx.port}${way.bare}`, token: null, ...more }));
      }
      rows.push(...rowsOf(way, callers, loads, pausesMs));
    }
  }
  return [...rows, ...(await transfers({ gateway, pipe, sinkPipe, nginx }, say))];
}

type Loads = { readonly ours: readonly Load[]; readonly pipe: readonly Load[]; readonly nginx: readonly Load[] };

function rowsOf({ what }: Way, callers: number, loads: Loads, pausesMs: { ours: readonly number[]; pipe: readonly number[] }): Row[] {
  const shared = { bench: "gateway", beyond: false } as const;
  const name = `${what}, ${callersText(callers)}`;
  const perSecond = (of: readonly Load[]) => of.map((load) => load.perSecond);
  const ours = perSecond(loads.ours);
  const bar = callers === 32 ? { bar: { atLeast: 0.85 } } : {};
  const rows = [
    rowOf({ ...shared, metric: `${name}: answers; a bare Node pipe`, unit: "/s", ours, peer: perSecond(loads.pipe), ...bar }),
    rowOf({ ...shared, metric: `${name}: answers; nginx`, unit: "/s", ours, peer: perSecond(loads.nginx) }),
  ];
  if (callers === 1) return rows;
  const longest = { ours: [Math.max(...pausesMs.ours)], peer: [Math.max(...pausesMs.pipe)] };
  const limit = { bar: { of: "value", atMost: LONGEST_PAUSE_MS } } as const;
  return [
    ...rows,
    rowOf({ ...shared, metric: `${name}: longest pause of the event loop; a bare Node pipe`, unit: "ms", ...longest, ...limit }),
  ];
}

type Servers = { readonly gateway: NodeGateway; readonly pipe: Running; readonly sinkPipe: Running; readonly nginx: Running };

/** 100 MB down, and up to a server that counts them. */
async function transfers({ gateway, pipe, sinkPipe, nginx }: Servers, say: (line: string) => void): Promise<Row[]> {
  const { token, base } = gateway;
  const local = ({ port }: Running, path: string) => ({ url: `http://127.0.0.1:${port}${path}`, token: null });
  const ways = [
    {
      what: "100 MB down",
      seconds: downloadSeconds,
      ours: { url: `${base}/svc/shop${BIG.path}`, token },
      pipe: local(pipe, BIG.path),
      nginx: local(nginx, BIG.path),
    },
    {
      what: "100 MB up",
      seconds: uploadSeconds,
      ours: { url: `${base}/svc/mcp-echo/sink`, token },
      pipe: local(sinkPipe, "/sink"),
      nginx: local(nginx, "/sink"),
    },
  ];
  const rows: Row[] = [];
  for (const { what, seconds, ...to } of ways) {
    say(`${ROUNDS} rounds: ${what}`);
    const rates = { ours: [] as number[], pipe: [] as number[], nginx: [] as number[] };
    for (let round = 1; round <= ROUNDS; round++)
      for (const name of ["ours", "pipe", "nginx"] as const) rates[name].push(BIG.bytes / 1e6 / (await seconds(to[name], BIG.bytes)));
    const shared = { bench: "gateway", unit: "MB/s", beyond: false } as const;
    rows.push(rowOf({ ...shared, metric: `/svc, ${what}; a bare Node pipe`, ours: rates.ours, peer: rates.pipe }));
    rows.push(rowOf({ ...shared, metric: `/svc, ${what}; nginx`, ours: rates.ours, peer: rates.nginx }));
  }
  return rows;
}
