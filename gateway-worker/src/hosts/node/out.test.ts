import http from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../../test/fixtures/free-port.ts";
import { keptBytes } from "../../../../test/fixtures/kept-memory.ts";
import { NodeOut } from "./out.ts";

const LATIN_FIELD = ["x-latin", "caf\u00e9"] as const;
let server: http.Server;
let port = 0;

beforeAll(async () => {
  server = http.createServer((request, response) => {
    const out = new NodeOut(response);
    const text = decodeURIComponent(request.url ?? "");
    if (request.method === "GET") return out.reply(200, [LATIN_FIELD], text);
    const sink = out.stream(200, [LATIN_FIELD, ["content-length", "3"]]);
    if (text === "/nothing") return;
    void sink.write(text);
    sink.end();
  });
  port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
});
afterAll(() => void server.close());

/** All bytes of an answer, one character each; for `head` no more than that. */
function bytesOf(path: string, { method = "GET", upTo = "end" } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (upTo === "head" && text.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

test.each([
  ["ASCII", "/plain", "/plain"],
  ["UTF-8", "/%C3%A9%E2%82%AC", "/\u00c3\u00a9\u00e2\u0082\u00ac"],
])("a reply's text is %s, and the bytes of its head above 0x7F are kept beside it", async (_what, path, body) => {
  const whole = await bytesOf(path);
  expect(whole).toContain("x-latin: caf\u00e9\r\n");
  expect(whole).toContain(`content-length: ${body.length}\r\n`);
  expect(whole.slice(whole.indexOf("\r\n\r\n") + 4)).toBe(body);
});

test("a stream whose first chunk is text keeps the bytes of its head above 0x7F", async () => {
  const whole = await bytesOf("/%C3%A9", { method: "POST" });
  expect(whole).toContain("x-latin: caf\u00e9\r\n");
  expect(whole.slice(whole.indexOf("\r\n\r\n") + 4)).toBe("/\u00c3\u00a9");
});

test("a stream's head comes though nothing follows it", async () => {
  expect(await bytesOf("/nothing", { method: "POST", upTo: "head" })).toMatch(/^HTTP\/1\.1 200 OK\r\nx-latin: caf\u00e9\r\n/);
});

test("what was streamed leaves nothing that waits for a full collection", async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const exchange = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = http.request({ agent, port, host: "127.0.0.1", method: "POST", path: "/ab" }, (answer) =>
        answer.resume().on("end", resolve),
      );
      sent.on("error", reject).end();
    });
  const kept = await keptBytes(async () => {
    for (let round = 0; round < 400; round++) await Promise.all(Array.from({ length: 8 }, exchange));
  });
  agent.destroy();
  expect(kept).toBeLessThan(3e6);
});
