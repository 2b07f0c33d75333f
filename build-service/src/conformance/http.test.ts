import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Http, NoAnswer } from "./http.ts";

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

const unaborted = () => new AbortController().signal;

test.each(["/%6dcp", "//mcp", "/x/../mcp", "/mcp.", "/a%2Fb?c=%20"])("%s goes out as it is given, below the base", async (path) => {
  const url = await serving((request, response) => response.end(request.url));
  expect((await new Http(`${url}/d/x/`, {}, unaborted()).ask(path)).text).toBe(`/d/x${path}`);
});

test("a redirect is an answer: what it leads to is never asked", async () => {
  const asked: unknown[] = [];
  const url = await serving((request, response) => {
    asked.push(request.url);
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  const answer = await new Http(url, {}, unaborted()).ask("/");
  expect([answer.status, asked]).toEqual([302, ["/"]]);
});

test("who asks is sent, and isn't in what is shown, not even where the answer repeats it", async () => {
  const url = await serving((request, response) => response.end(`${request.headers.authorization}`));
  const answer = await new Http(url, { authorization: "Bearer secret" }, unaborted()).post("/", { a: 1 }, { headers: { "x-a": "b" } });
  expect([answer.text, answer.sent]).toEqual([
    "Bearer …",
    { method: "POST", target: "/", headers: { "content-type": "application/json", "x-a": "b" }, body: '{"a":1}' },
  ]);
});

test("a server that says nothing, and one that says too much, is no answer", async () => {
  const silent = await serving(() => undefined);
  const endless = await serving((_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(1_048_576);
    const more = () => void (response.destroyed || response.write(chunk, more));
    more();
  });
  const reasonOf = (url: string, timeoutMs?: number) =>
    new Http(url, {}, unaborted()).ask("/", { ...(timeoutMs === undefined ? {} : { timeoutMs }) }).then(
      () => "an answer",
      (error: unknown) => (error instanceof NoAnswer ? error.message : error),
    );
  expect(await reasonOf(silent, 100)).toBe("no answer within 0.1 s");
  expect(await reasonOf(endless)).toBe("HTTP 200 with more than 16777216 bytes");
});

test("of a stream as much is read as is needed", async () => {
  const url = await serving((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
  });
  const answer = await new Http(url, {}, unaborted()).ask("/", { enough: (text) => text.includes("1") });
  expect([answer.type, answer.text]).toEqual(["text/event-stream", "data: 1\n\n"]);
});

test("an interruption ends it with its reason, and nothing is asked after it", async () => {
  const url = await serving(() => undefined);
  const interrupt = new AbortController();
  const http = new Http(url, {}, interrupt.signal);
  const asking = http.ask("/");
  interrupt.abort(new Error("interrupted"));
  await expect(asking).rejects.toThrow("interrupted");
  await expect(http.ask("/")).rejects.toThrow("interrupted");
});

test("another address has to be of the same origin", () => {
  const http = new Http("http://127.0.0.1:8000/svc/shop", { authorization: "Bearer secret" }, unaborted());
  expect(http.at("http://127.0.0.1:8000/").base).toBe("http://127.0.0.1:8000");
  expect(() => http.at("http://192.0.2.1:8000/")).toThrow(
    "http://192.0.2.1:8000/ is on another origin than http://127.0.0.1:8000/svc/shop",
  );
});
