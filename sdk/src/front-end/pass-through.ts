import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { request as requestTls } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Fields that end at the next hop (RFC 9110 §7.6.1). `upgrade` is passed on by the upgrade itself. */
const HOP_BY_HOP = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

/**
 * A front end that has nothing of its own: every request goes to `backend` as it came, and every answer back, streamed both
 * ways; WebSockets too. `Host` and the gateway's `X-Forwarded-*` stay as they are.
 */
export function passThrough(backend: URL): Server {
  const server = createServer((incoming, outgoing) => forward(backend, incoming, outgoing));
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => forwardUpgrade(backend, incoming, socket, head));
  // An upload may take as long as it needs.
  server.requestTimeout = 0;
  return server;
}

function forward(backend: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const upstream = open(backend, incoming, endToEnd(incoming.rawHeaders));
  upstream.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
    // Sends the head at once. `flushHeaders` would write it as UTF-8, and so change bytes above 0x7F.
    outgoing.write(Buffer.alloc(0));
    answer.pipe(outgoing);
    // What broke off must not look complete.
    answer.on("error", () => outgoing.destroy());
  });
  upstream.on("error", (error) => {
    if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
    else outgoing.writeHead(502, { "Content-Type": "text/plain; charset=utf-8" }).end(away(backend, error));
  });
  outgoing.on("close", () => upstream.destroy());
  incoming.pipe(upstream);
}

function forwardUpgrade(backend: URL, incoming: IncomingMessage, client: Duplex, head: Buffer): void {
  const upgrade = ["Connection", "Upgrade", "Upgrade", incoming.headers.upgrade ?? ""];
  const upstream = open(backend, incoming, [...endToEnd(incoming.rawHeaders), ...upgrade]);
  upstream.on("upgrade", (answer, socket, first) => {
    client.write(responseHead(answer.statusCode ?? 101, answer.statusMessage ?? "", answer.rawHeaders));
    join(client, head, socket, first);
  });
  upstream.on("response", (answer) => {
    const fields = [...endToEnd(answer.rawHeaders), "Connection", "close"];
    client.write(responseHead(answer.statusCode ?? 502, answer.statusMessage ?? "", fields));
    answer.pipe(client);
  });
  upstream.on("error", (error) => {
    client.write(responseHead(502, "Bad Gateway", ["Content-Type", "text/plain; charset=utf-8", "Connection", "close"]));
    client.end(away(backend, error));
  });
  client.on("error", () => upstream.destroy());
  upstream.end();
}

/** A connection of its own for each request: none is reused just as the backend closes it. */
function open(backend: URL, incoming: IncomingMessage, headers: string[]) {
  const send = backend.protocol === "https:" ? requestTls : request;
  const framed = incoming.headers["transfer-encoding"] === undefined ? headers : [...headers, "Transfer-Encoding", "chunked"];
  return send(backend, {
    agent: false,
    method: incoming.method ?? "GET",
    path: backend.pathname.replace(/\/$/, "") + (incoming.url ?? "/"),
    headers: framed,
    setHost: incoming.headers.host === undefined,
  });
}

function join(client: Duplex, fromClient: Buffer, backend: Socket, fromBackend: Buffer): void {
  backend.setNoDelay(true);
  if (fromBackend.length > 0) client.write(fromBackend);
  if (fromClient.length > 0) backend.write(fromClient);
  client.pipe(backend).pipe(client);
  client.on("close", () => backend.destroy());
  backend.on("close", () => client.destroy());
  backend.on("error", () => client.destroy());
  client.on("error", () => backend.destroy());
}

/** Name and value by turns, as they came, without what ends at this hop. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const fields = pairs(rawHeaders);
  const named = fields
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(",")
        .map((part) => part.trim()),
    );
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return fields.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

function responseHead(status: number, reason: string, rawHeaders: readonly string[]): Buffer {
  const lines = pairs(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n`, "latin1");
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  const fields: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) fields.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return fields;
}

/** For whoever reads the page: no inner address, which goes to the log. */
function away(backend: URL, error: NodeJS.ErrnoException): string {
  console.error(`the backend at ${backend.origin} does not answer: ${error.message}`);
  return `The site's backend does not answer (${error.code ?? "connection lost"}).\n`;
}
