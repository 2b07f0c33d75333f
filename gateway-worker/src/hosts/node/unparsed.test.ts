import http from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../../../test/fixtures/free-port.ts";
import { answerUnparsed } from "./unparsed.ts";

const HEAD_MS = 200;
let server: http.Server;

afterEach(() => void server.close());

/** All that comes back for some bytes, until the connection is closed. The client keeps its own side open. */
async function answerTo(bytes: string, answer: http.RequestListener = (_request, response) => response.end("fine")): Promise<string> {
  server = http.createServer({ headersTimeout: HEAD_MS, connectionsCheckingInterval: 20, maxHeaderSize: 4_096 }, answer);
  answerUnparsed(server, { maxHeaderBytes: 4_000, headMs: HEAD_MS });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return await new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => socket.write(bytes));
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    socket.on("error", () => undefined);
    socket.on("end", () => socket.end());
    socket.on("close", () => resolve(text));
  });
}

const GOOD = "POST / HTTP/1.1\r\nhost: x\r\n";
const NO_HTTP = { error: "what was sent is no valid HTTP/1.1" };

test.each([
  ["no HTTP at all", "SSH-2.0-OpenSSH\r\n\r\n", 400, NO_HTTP],
  ["a field whose name holds a blank", `${GOOD}a b: c\r\n\r\n`, 400, NO_HTTP],
  ["more headers than are read", `${GOOD}x: ${"y".repeat(8_000)}\r\n\r\n`, 431, { error: "the headers are larger than 4000 bytes" }],
  ["a head without an end", GOOD, 408, { error: "the request's head took longer than 0.2s" }],
])("%s is answered in JSON, and the connection closed", async (_what, bytes, status, body) => {
  const [head = "", text = ""] = (await answerTo(bytes)).split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z][A-Za-z ]+\r\n`));
  expect(head).toContain("\r\ncontent-type: application/json\r\n");
  expect(head).toContain("\r\nconnection: close");
  expect(JSON.parse(text)).toEqual(body);
});

test("what follows an answered request is told apart from it", async () => {
  const said = await answerTo(`${GOOD}content-length: 2\r\n\r\nokSSH-2.0\r\n\r\n`);
  expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nfineHTTP\/1\.1 400 /s);
  expect(said.endsWith(JSON.stringify(NO_HTTP))).toBe(true);
});

test("a body whose chunks are none is the client's fault; an answer that has begun is cut, with nothing behind it", async () => {
  const chunked = `${GOOD}transfer-encoding: chunked\r\n\r\n2\r\nab\r\nZZ\r\n`;
  expect(await answerTo(chunked, () => undefined)).toContain("the body was cut off, or isn't framed as its headers say");
  server.close();
  const begun = await answerTo(chunked, (_request, response) => void response.writeHead(200, { "content-length": "100" }).write("part"));
  expect(begun.split("\r\n\r\n").slice(1)).toEqual(["part"]);
});
