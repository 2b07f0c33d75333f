import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { postJson } from "./post-json.ts";

/** What posting `{}` to a server that does this gives, or the error's `why`. */
async function posted(answer: RequestListener, timeoutMs = 5_000): Promise<unknown> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await postJson(`http://127.0.0.1:${port}/`, { a: "é" }, { timeoutMs, signal: new AbortController().signal });
  } catch (error) {
    return error instanceof Error && "why" in error ? error.why : error;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a posted document is answered with one", async () => {
  const echo: RequestListener = async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(new TextDecoder().decode(Buffer.concat(chunks)));
  };
  expect(await posted(echo)).toEqual({ a: "é" });
});

test.each<[string, RequestListener, string]>([
  ["a status other than 200", (_, response) => response.writeHead(503).end("starting"), "HTTP 503: starting"],
  ["a page", (_, response) => response.end("<html>"), "not JSON: <html>"],
  ["a cut connection", (request) => request.socket.destroy(), "socket hang up"],
  ["silence", () => {}, "nothing within 0.2 s"],
])("%s is an error that says so", async (_, answer, why) => {
  expect(await posted(answer, 200)).toBe(why);
});
