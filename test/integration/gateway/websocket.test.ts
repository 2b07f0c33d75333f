import { createHash } from "node:crypto";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Says `hello`, then gives back what each frame held, and closes on a close frame with its code. */
function echo(request: { headers: Record<string, string | string[] | undefined> }, socket: Duplex): void {
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: chat\r\n\r\n`,
  );
  socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("hello")]));
  let held = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const short = (held[1] ?? 0) & 0x7f;
      const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (held.length < headBytes + 4) return;
      const length = short === 126 ? held.readUInt16BE(2) : short === 127 ? Number(held.readBigUInt64BE(2)) : short;
      if (held.length < headBytes + 4 + length) return;
      const mask = held.subarray(headBytes, headBytes + 4);
      const payload = Buffer.from(held.subarray(headBytes + 4, headBytes + 4 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
      socket.write(Buffer.concat([Buffer.from([held[0] ?? 0]), lengthBytes(length), payload]));
      if (((held[0] ?? 0) & 0x0f) === 8) return void socket.end();
      held = held.subarray(headBytes + 4 + length);
    }
  });
  socket.on("error", () => socket.destroy());
}

function lengthBytes(length: number): Buffer {
  if (length < 126) return Buffer.from([length]);
  const bytes = Buffer.alloc(length < 65_536 ? 3 : 9, length < 65_536 ? 126 : 127);
  if (length < 65_536) bytes.writeUInt16BE(length, 1);
  else bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}

afterAll(endHosts);

describe.each(HOSTS)("G7 WebSockets on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let shop: Recorder;
  let isLeft = false;
  beforeAll(async () => {
    shop = await recorder({
      card: () => ({ status: 200, body: card("shop", { additionalInterfaces: [{ url: "mcp", transport: "other" }] }) }),
      upgrade: (request, socket) => {
        if (request.url?.startsWith("/no"))
          return void socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno");
        if (request.url === "/left")
          socket.on("end", () => {
            isLeft = true;
          });
        echo(request, socket);
      },
    });
    gateway = await start({ record: { servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url }] } });
  });
  afterAll(async () => {
    await gateway.stop();
    await shop.close();
  });

  test.each(["/website/shop/ws?a=1", "/svc/shop/ws?a=1"])("%s: subprotocol, text, binary of 100 kB, close code", async (path) => {
    const socket = new WebSocket(`${gateway.base.replace("http", "ws")}${path}`, ["chat"]);
    socket.binaryType = "arraybuffer";
    const got: unknown[] = [];
    const closed = await new Promise<CloseEvent>((resolve, reject) => {
      socket.onerror = () => reject(new Error("the socket failed"));
      socket.onclose = resolve;
      socket.onmessage = ({ data }) => {
        got.push(data instanceof ArrayBuffer ? data.byteLength : data);
        if (data === "hello") socket.send(new Uint8Array(100_000));
        else if (data instanceof ArrayBuffer) socket.send("bye");
        else socket.close(4321, "done");
      };
    });
    expect([got, socket.protocol, closed.code]).toEqual([["hello", 100_000, "bye"], "chat", 4321]);
    expect(shop.received.at(-1)?.target).toBe("/ws?a=1");
  });

  test("a refused upgrade comes back as it is", async () => {
    const answer = await raw(gateway, "/website/shop/no", { headers: UPGRADE });
    expect([answer.status, answer.text]).toEqual([401, "no"]);
  });

  test("W3.2 an upgrade on a reserved path is 404 and reaches nothing", async () => {
    const before = shop.received.length;
    for (const path of ["/website/shop/mcp", "/website/shop/%6dcp", "/website/shop/agentenv/x"])
      expect((await raw(gateway, path, { headers: UPGRADE })).status).toBe(404);
    expect(shop.received.slice(before)).toEqual([]);
  });

  test("a client that goes away closes the server's side within a second", async () => {
    const socket = connect(gateway.port, "127.0.0.1");
    const lines = Object.entries(UPGRADE).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${gateway.prefix}/website/shop/left HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n${lines.join("")}\r\n`);
    const head = await new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
    expect(head).toMatch(/^HTTP\/1.1 101 /);
    socket.destroy();
    await until("the server's side is closed", 1_000, () => isLeft);
  });
});
