import { createHash } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS } from "../../../fixtures/gateway/hosts.ts";
import { card, recorder } from "../../../fixtures/gateway/recorder.ts";
import { shopSuite } from "../../../fixtures/gateway/shop.ts";
import { until } from "../../../fixtures/until.ts";

const isLong = process.env["AGENT_ENV_TEST_LONG"] === "1";
const UPLOAD_BYTES = isLong ? 200_000_000 : 10_000_000;
const CHUNK = Buffer.alloc(100_000, "0123456789");

afterAll(endHosts);

describe.each(HOSTS)("exchanges with a site on the $host host", ({ start }) => {
  const shop = shopSuite(start);

  const modes = ["prefixed", "hosted"] as const;
  /** An open request in one mode or the other. */
  function open(
    mode: (typeof modes)[number],
    path: string,
    options: { method?: string; headers?: Record<string, string> } = {},
  ): http.ClientRequest {
    const { method = "GET", headers = {} } = options;
    const place = mode === "prefixed" ? { path: shop.prefix + path, headers } : { path, headers: { ...headers, host: shop.host } };
    return http.request({ host: "127.0.0.1", port: shop.gateway.port, agent: false, method, ...place });
  }
  const answered = (request: http.ClientRequest) =>
    new Promise<http.IncomingMessage>((resolve, reject) => request.on("response", resolve).on("error", reject));
  async function textOf(response: http.IncomingMessage): Promise<string> {
    let text = "";
    for await (const chunk of response) text += chunk;
    return text;
  }

  test.each(modes)("N5 case 9 a large body in chunks arrives whole, %s", async (mode) => {
    shop.answers((request, response, body) => {
      const hash = createHash("sha256").update(body).digest("hex");
      response.end(`${request.headers["content-type"]} ${body.length} ${hash}`);
    });
    const request = open(mode, "/upload", {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x", expect: "100-continue" },
    });
    const response = answered(request);
    request.flushHeaders();
    await new Promise((resolve) => request.once("continue", resolve));
    const hash = createHash("sha256");
    for (let sent = 0; sent < UPLOAD_BYTES; sent += CHUNK.length) {
      hash.update(CHUNK);
      if (!request.write(CHUNK)) await new Promise((resolve) => request.once("drain", resolve));
    }
    request.end();
    expect(await textOf(await response)).toBe(`multipart/form-data; boundary=x ${UPLOAD_BYTES} ${hash.digest("hex")}`);
  });

  test.each(modes)("N5 case 9 an empty POST has the length 0, %s", async (mode) => {
    shop.answers(
      (request, response) => void response.end(JSON.stringify([request.headers["content-length"], request.headers["transfer-encoding"]])),
    );
    const answer = await shop[mode]("/empty", { method: "POST", headers: { "content-length": "0" } });
    expect(answer.text).toBe('["0",null]');
  });

  test.each(modes)("N5 case 10 a client that leaves a download ends it at the site, %s", async (mode) => {
    let isClosed = false;
    shop.answers((_request, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      response.writeHead(200, { "content-type": "text/html" });
      const more = (): void =>
        void (isClosed || (response.write("<p>more</p>\n".repeat(5_000)) ? setImmediate(more) : response.once("drain", more)));
      more();
    });
    const request = open(mode, "/download");
    const response = answered(request);
    request.end();
    await new Promise((resolve) => void response.then((message) => message.once("data", resolve)));
    request.destroy();
    await until("the site's side is closed", 5_000, () => isClosed);
  });

  test.each(modes)("N5 case 36 events come one by one, uncompressed, and a client that leaves is seen, %s", async (mode) => {
    let isClosed = false;
    let say = (_text: string): void => undefined;
    shop.answers((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      say = (text) => void response.write(text);
      response.write(`: comment\n\ndata: after ${request.headers["last-event-id"]}\n\n`);
      response.on("close", () => {
        isClosed = true;
      });
    });
    const request = open(mode, "/events", { headers: { accept: "text/event-stream", "last-event-id": "7", "accept-encoding": "gzip" } });
    const response = answered(request);
    request.end();
    const message = await response;
    let text = "";
    message.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    message.on("error", () => undefined);
    await until("the first event", 5_000, () => text === ": comment\n\ndata: after 7\n\n");
    say("data: next\n\n");
    await until("the next event", 5_000, () => text.endsWith("data: next\n\n"));
    expect(message.headers["content-encoding"]).toBeUndefined();
    request.destroy();
    const noticed = () => {
      // Workers see a client that left at the next write
      say(": still there\n\n");
      return isClosed;
    };
    await until("the site's side is closed", 10_000, noticed);
  });

  test("N5 case 37 an answer of HTTP/1.0, without a length, until its end; trailers don't harm", async () => {
    const answers: Record<string, string> = {
      "/old": "HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n<a href='/x'>old</a>",
      "/close": "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end",
      "/trailers": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n4\r\nbody\r\n0\r\nx-sum: 1\r\n\r\n",
    };
    const front = net.createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", (head) => socket.end(answers[/^GET (\S+)/.exec(head.toString())?.[1] ?? ""] ?? ""));
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const address = front.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const backend = await recorder({ card: () => ({ status: 200, body: card("old") }) });
    const gateway = await start({
      record: { servers: [{ name: "old", kind: "website", url: backend.url, frontend_url: `http://127.0.0.1:${port}` }] },
    });
    const get = async (path: string) => await (await fetch(`${gateway.base}/website/old${path}`)).text();
    expect([await get("/old"), await get("/close"), await get("/trailers")]).toEqual([
      `<a href='${gateway.prefix}/website/old/x'>old</a>`,
      "until the end",
      "body",
    ]);
    await gateway.stop();
    await backend.close();
    front.close();
  });

  test("N5 case 37 a site that isn't there says so as the browser likes it, without an inner address", async () => {
    const front = await recorder();
    const server = { name: "late", kind: "website" as const, url: shop.frontend.url, frontend_url: front.url };
    const gateway = await start({ record: { servers: [server] } });
    await front.close();
    const page = { headers: { accept: "text/html", "sec-fetch-mode": "navigate" } };
    const early = await fetch(`${gateway.base}/website/late/`, page);
    expect([early.status, early.headers.get("retry-after"), early.headers.get("content-type"), await early.text()]).toEqual([
      503,
      "1",
      "text/html; charset=utf-8",
      '<!doctype html><meta charset="utf-8"><title>503: late has not started yet</title><p>503: late has not started yet</p>\n',
    ]);
    const again = await recorder({ port: front.port });
    expect((await fetch(`${gateway.base}/website/late/`)).status).toBe(200);
    await again.close();
    const gone = await fetch(`${gateway.base}/website/late/`);
    expect([gone.status, await gone.json()]).toEqual([502, { error: "Proxy request failed: late: connection refused" }]);
    await gateway.stop();
  });
});
