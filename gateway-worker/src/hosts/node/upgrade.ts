import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Field, In, UpRequest, UpResponse } from "../../core/seam.ts";
import { NodeIn } from "./in.ts";
import { clientRequest, faultOf, NodeUpResponse, watchTimes } from "./upstream.ts";

/** The sockets of upgrade requests under way, with what the client has sent after its head. */
const sockets = new WeakMap<IncomingMessage, { readonly socket: Duplex; readonly head: Buffer }>();

/** Keeps what an upgrade request came with until its server has answered. */
export function holdUpgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
  sockets.set(message, { socket, head });
}

/** Asks the server to switch protocols, and joins the two connections if it does. */
export function upgrade(request: UpRequest, client: In, outward: (fields: Field[]) => Field[]): Promise<UpResponse | null> {
  const protocol = client.header("upgrade") ?? "websocket";
  const sent = clientRequest({ ...request, body: null }, [
    ["connection", "Upgrade"],
    ["upgrade", protocol],
  ]);
  const answer = new Promise<UpResponse | null>((resolve, reject) => {
    sent.on("response", (message) => resolve(new NodeUpResponse(message)));
    sent.on("upgrade", (message: IncomingMessage, server: Duplex, first: Buffer) => {
      const held = client instanceof NodeIn ? sockets.get(client.message) : undefined;
      if (held === undefined) throw new Error("an upgrade without its socket");
      held.socket.write(switchingHead(message, outward(new NodeUpResponse(message).headers())));
      join(held.socket, server, { fromClient: held.head, fromServer: first });
      resolve(null);
    });
    sent.on("error", (error) => reject(faultOf(error)));
    watchTimes(sent, request.idleMs);
  });
  sent.end();
  return answer;
}

function switchingHead(message: IncomingMessage, fields: readonly Field[]): string {
  const all: Field[] = [["connection", "Upgrade"], ["upgrade", message.headers.upgrade ?? "websocket"], ...fields];
  return `HTTP/1.1 101 Switching Protocols\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

function join(client: Duplex, server: Duplex, first: { fromClient: Buffer; fromServer: Buffer }): void {
  if (first.fromServer.length > 0) client.write(first.fromServer);
  if (first.fromClient.length > 0) server.write(first.fromClient);
  client.pipe(server);
  server.pipe(client);
  client.on("error", () => server.destroy());
  server.on("error", () => client.destroy());
  client.on("close", () => server.destroy());
  server.on("close", () => client.destroy());
}
