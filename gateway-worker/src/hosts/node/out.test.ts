import http from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../../test/fixtures/free-port.ts";
import { NodeOut } from "./out.ts";

const LATIN_FIELD = ["x-latin", "caf\u00e9"] as const;
let server: http.Server;
let port = 0;

beforeAll(async () => {
  server = http.createServer((request, response) => new NodeOut(response).reply(200, [LATIN_FIELD], decodeURIComponent(request.url ?? "")));
  port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
});
afterAll(() => void server.close());

/** All bytes of an answer, one character each. */
function bytesOf(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("end", () => resolve(text));
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
