import type { IncomingMessage } from "node:http";
import { type Duplex, PassThrough } from "node:stream";
import { Fault, type Field, type In, type UpExchange, type UpRequest, type UpResponse } from "../../core/seam.ts";
import { NodeIn } from "./in.ts";
import { answerTo, clientRequest, NodeUpResponse } from "./upstream.ts";

const PROTOCOL = "websocket";

/** A client's end of a connection, and what has come of it after the head. */
type Held = { readonly socket: Duplex; readonly sent: PassThrough; readonly leave: () => void };

/** The connections of upgrade requests under way. */
const held = new WeakMap<IncomingMessage, Held>();

/** Keeps what an upgrade request came with until its server has answered. It is read all the while: else nobody saw its end. */
export function holdUpgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
  const sent = new PassThrough();
  const leave = (): void => void socket.destroy();
  sent.write(head);
  socket.pipe(sent);
  socket.on("end", leave);
  held.set(message, { socket, sent, leave });
}

/** Asks the server for a WebSocket, and joins the two connections if it agrees. Its own is never used for anything else. */
export function upgrade(request: UpRequest, client: In, outward: (fields: readonly Field[]) => Field[]): UpExchange<UpResponse | null> {
  const asked = { ...request, headers: [...request.headers, ["connection", "Upgrade"], ["upgrade", PROTOCOL]] as const, body: null };
  const sent = clientRequest(asked, { isShared: false });
  const response = answerTo(sent, request.idleMs, (message, server, first) => {
    const end = client instanceof NodeIn ? held.get(client.message) : undefined;
    if (end === undefined) throw new Error("an upgrade without its socket");
    if (message.headers.upgrade?.toLowerCase() !== PROTOCOL) return new Fault("unknown", "it switched to another protocol than asked");
    end.socket.write(switchingHead(outward(new NodeUpResponse(message).headers())));
    join(end, server, first);
    return null;
  });
  sent.end();
  return { response, abort: () => void sent.destroy(new Fault("unknown", "given up")) };
}

function switchingHead(fields: readonly Field[]): string {
  const all: Field[] = [["connection", "Upgrade"], ["upgrade", PROTOCOL], ...fields];
  return `HTTP/1.1 101 Switching Protocols\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

function join({ socket: client, sent, leave }: Held, server: Duplex, first: Buffer): void {
  client.off("end", leave);
  if (first.length > 0) client.write(first);
  sent.pipe(server);
  server.pipe(client);
  client.on("error", () => server.destroy());
  server.on("error", () => client.destroy());
  client.on("close", () => server.destroy());
  server.on("close", () => client.destroy());
}
