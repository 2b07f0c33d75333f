import { createHash } from "node:crypto";
import http from "node:http";
import type { Duplex } from "node:stream";
import type { CheckedSite } from "@agent-env/protocol";
import type { Browser } from "playwright-core";
import { parseActs } from "../../build-service/src/check-site/act-script.ts";
import { checkSite, type SiteUp } from "../../build-service/src/check-site/check-site.ts";
import type { StageEvent } from "../../build-service/src/report/events.ts";
import type { RunningGateway } from "../fixtures/gateway/hosts.ts";
import type { RunningSite } from "../fixtures/real-sites.ts";

/** What a path is answered with: its type, its body and more header fields, or whatever a function does. */
export type Answer =
  | readonly [type: string, body: string, fields?: Readonly<Record<string, string>>]
  | ((request: http.IncomingMessage, response: http.ServerResponse) => void);

/**
 * A site of these paths. A path that isn't there is answered by `*`, else with 404. A WebSocket at `/ws` opens, and one at
 * `/ws?after=MS` says "hello" so much later.
 */
export async function startSite(paths: Readonly<Record<string, Answer>>): Promise<RunningSite> {
  const sockets = new Set<Duplex>();
  const server = http.createServer((request, response) => {
    const answer = paths[(request.url ?? "").split("?")[0] ?? ""] ?? paths["*"];
    if (answer === undefined) return response.writeHead(404, { "content-type": "text/plain" }).end("not here");
    if (typeof answer === "function") return answer(request, response);
    const [type, body, fields] = answer;
    return response.writeHead(200, { "content-type": type, ...fields }).end(body);
  });
  server.on("upgrade", ({ url = "", headers }, socket) => {
    const { pathname, searchParams } = new URL(url, "http://site");
    if (pathname !== "/ws") return socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    sockets.add(socket);
    const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    const after = searchParams.get("after");
    // RFC 6455 §5.2: a whole text message in one frame
    if (after !== null) setTimeout(() => socket.write(Buffer.from("\x81\x05hello", "latin1")), Number(after));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A site of a gateway's in both modes. */
export function siteOf(gateway: RunningGateway, site: string, more: Partial<SiteUp> = {}): SiteUp {
  return {
    site,
    host: `http://${site}--${gateway.deployment}.localhost:${gateway.port}/`,
    prefix: `http://localhost:${gateway.port}${gateway.prefix}/website/${site}/`,
    keepsPrefix: false,
    entrance: async () => null,
    ...more,
  };
}

/** Checks a site in both modes. */
export async function checked(
  browser: Browser,
  site: SiteUp,
  { acts = "", reset = async () => {}, events = [] }: { acts?: string; reset?: () => Promise<void>; events?: StageEvent[] } = {},
): Promise<Omit<CheckedSite, "images">> {
  return checkSite(site, {
    browser,
    mode: "both",
    acts: parseActs(acts, "acts.txt").acts,
    actFile: "acts.txt",
    mostPages: 30,
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    reset,
  });
}
