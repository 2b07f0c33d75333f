import { connect } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

afterAll(endHosts);

describe.each(HOSTS)("/svc on the $host host", ({ host, start }) => {
  let gateway: RunningGateway;
  let shop: Recorder;
  let closedEarly = false;
  // workerd tells the client's address in a field that only a proxy before it sets
  const PEER = host === "node" ? ["127.0.0.1"] : [];

  beforeAll(async () => {
    shop = await recorder({
      card: () => ({ status: 200, body: card("shop") }),
      early: (request, response) => {
        if (request.url === "/slow") {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write("data: 1\n\n");
          const more = setInterval(() => response.write("data: more\n\n"), 50);
          response.on("close", () => {
            clearInterval(more);
            closedEarly = true;
          });
          return true;
        }
        return false;
      },
      answer: (request, response, body) => {
        const path = (request.url ?? "").split("?")[0];
        if (path === "/gzip") return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("plain text"));
        if (path === "/cookies")
          return response.writeHead(200, ["set-cookie", "a=1; Path=/", "set-cookie", "b=2", "x-latin", "caf\u00e9"]).end(Buffer.from("ok"));
        if (path === "/redirect") return response.writeHead(307, { location: "/login" }).end();
        if (path === "/hop")
          return response.writeHead(200, { connection: "x-mine, keep-alive", "x-mine": "1", "x-kept": "2", server: "theirs" }).end("ok");
        if (path === "/sized") return response.writeHead(200, { "content-type": "text/plain", "content-length": "5" }).end("12345");
        if (path === "/cut") {
          response.writeHead(200, { "content-length": "100" });
          response.write("half");
          return setTimeout(() => response.destroy(), 50);
        }
        if (path === "/reset") return request.socket.destroy();
        if (path === "/nothing") return response.writeHead(204).end();
        return response.writeHead(200, { "content-type": "text/plain" }).end(body.length > 0 ? body : request.url);
      },
    });
    gateway = await start({ record: { servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url }] } });
  });
  afterAll(async () => {
    await gateway.stop();
    await shop.close();
  });
  beforeEach(() => {
    shop.received.length = 0;
  });
  const fieldsOf = (name: string) =>
    shop.received
      .at(-1)
      ?.headers.filter(([field]) => field === name)
      .map(([, value]) => value);

  test("V30 the server gets exactly the path and query that were sent", async () => {
    for (const path of ["/files/a%2Fb%3Fc%23d%C3%A9%2f?q=a%2Fb&q=c", "/a//b", "/a;p=1/b+c%20d", "/x?", "/%252F", "/?a=1&a=1"]) {
      await raw(gateway, `/svc/shop${path}`);
      expect(shop.received.at(-1)?.target).toBe(path);
    }
  });

  test("dot segments and backslashes are resolved before routing", async () => {
    await raw(gateway, "/svc/shop/x/../y%2e%2E/%2e%2e/z\\w");
    expect(shop.received.at(-1)?.target).toBe("/z/w");
    expect((await raw(gateway, "/svc/shop/../../nope")).status).toBe(404);
    expect(shop.received).toHaveLength(1);
  });

  test("/svc/<key> is /svc/<key>/", async () => {
    await raw(gateway, "/svc/shop?x=1");
    expect(shop.received.at(-1)?.target).toBe("/?x=1");
  });

  test("V31 an escaped slash in the key is 400, an unknown key 404, and nothing is sent", async () => {
    const answers = [
      await raw(gateway, "/svc/shop%2Fx/y"),
      await raw(gateway, "/svc/sh%25op/y"),
      await raw(gateway, "/svc%2Fshop/y"),
      await raw(gateway, "/svc/nope/x"),
      await raw(gateway, "/svc/Shop/x"),
      await raw(gateway, "/svc/"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404, 404]);
    expect(answers[3]?.json()).toEqual({ error: "Unknown service: nope" });
    expect(shop.received).toEqual([]);
  });

  test("V33 of two role headers the first is sent, alone; blank and missing ones are default", async () => {
    const roles: unknown[] = [];
    for (const role of [["a", "b"], "  ", undefined]) {
      await raw(gateway, "/svc/shop/r", { headers: role === undefined ? {} : { "AgentEnv-Role": role } });
      roles.push(fieldsOf("agentenv-role"));
    }
    expect(roles).toEqual([["a"], ["default"], ["default"]]);
  });

  test("what ends at this hop, what Connection names, and what only the gateway may say is not passed on", async () => {
    await raw(gateway, "/svc/shop/r", {
      headers: {
        Connection: "keep-alive, X-Foo",
        "X-Foo": "1",
        TE: "trailers",
        "Proxy-Authorization": "x",
        "X-Universe-Now": "2030-01-01T00:00:00Z",
        "X-Forwarded-For": "9.9.9.9",
        "X-Forwarded-Port": "1",
        Forwarded: "for=9.9.9.9",
        Authorization: "Bearer site",
        "X-Kept": "yes",
      },
    });
    const names = shop.received.at(-1)?.headers.map(([name]) => name) ?? [];
    for (const gone of ["x-foo", "te", "proxy-authorization", "x-universe-now", "forwarded", "x-forwarded-port"])
      expect(names).not.toContain(gone);
    expect([fieldsOf("x-forwarded-for"), fieldsOf("authorization"), fieldsOf("x-kept"), fieldsOf("agentenv-hops")]).toEqual([
      PEER,
      ["Bearer site"],
      ["yes"],
      ["1"],
    ]);
    expect(fieldsOf("x-forwarded-prefix")).toEqual([`${gateway.prefix}/svc/shop`]);
    expect([fieldsOf("x-forwarded-host"), fieldsOf("x-forwarded-proto"), fieldsOf("host")]).toEqual([
      [`127.0.0.1:${gateway.port}`],
      ["http"],
      [`127.0.0.1:${shop.port}`],
    ]);
  });

  test("without an Accept-Encoding of the client identity is sent, else its own", async () => {
    await raw(gateway, "/svc/shop/r");
    const none = fieldsOf("accept-encoding");
    await raw(gateway, "/svc/shop/r", { headers: { "accept-encoding": "gzip" } });
    expect([none, fieldsOf("accept-encoding")]).toEqual([["identity"], ["gzip"]]);
  });

  test("V32 G7 encodings, two Set-Cookie and bytes above 0x7F stay as they are", async () => {
    const zipped = await raw(gateway, "/svc/shop/gzip", { headers: { "accept-encoding": "gzip" } });
    expect([zipped.header("content-encoding"), gunzipSync(zipped.body).toString()]).toEqual(["gzip", "plain text"]);
    const cookies = await raw(gateway, "/svc/shop/cookies");
    expect(cookies.headers.filter(([name]) => name === "set-cookie").map(([, value]) => value)).toEqual(["a=1; Path=/", "b=2"]);
    expect(cookies.header("x-latin")).toBe("caf\u00e9");
    await raw(gateway, "/svc/shop/r", { method: "POST", headers: { "x-latin": "caf\u00e9" }, body: Buffer.from("x") });
    expect(fieldsOf("x-latin")).toEqual(["caf\u00e9"]);
  });

  test("redirects are neither followed nor changed; hop fields and `server` of an answer go", async () => {
    const redirect = await raw(gateway, "/svc/shop/redirect");
    expect([redirect.status, redirect.header("location")]).toEqual([307, "/login"]);
    const hop = await raw(gateway, "/svc/shop/hop");
    expect([hop.header("x-mine"), hop.header("server"), hop.header("x-kept")]).toEqual([undefined, undefined, "2"]);
  });

  test("a length stays, HEAD has no body, 204 none either", async () => {
    const get = await raw(gateway, "/svc/shop/sized");
    const head = await raw(gateway, "/svc/shop/sized", { method: "HEAD" });
    expect([get.header("content-length"), get.text]).toEqual(["5", "12345"]);
    expect([head.status, head.header("content-length"), head.text]).toEqual([200, "5", ""]);
    expect((await raw(gateway, "/svc/shop/nothing")).status).toBe(204);
  });

  test("any method passes, OPTIONS too", async () => {
    for (const method of ["OPTIONS", "PUT", "PATCH", "DELETE", "POST"])
      expect((await raw(gateway, "/svc/shop/m", { method })).status).toBe(200);
    expect(shop.received.map(({ method }) => method)).toEqual(["OPTIONS", "PUT", "PATCH", "DELETE", "POST"]);
  });

  test("G6 the first chunk of an answer is there before the last, and a client that leaves closes the server's side", async () => {
    closedEarly = false;
    const answer = await fetch(`${gateway.base}/svc/shop/slow`);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain("data: 1");
    await reader?.cancel();
    await until("the server's side is closed", 5_000, () => closedEarly);
  });

  test("G6 a large upload is streamed, its bytes equal", async () => {
    const body = Buffer.alloc(8_000_000, "abcdefghij");
    const answer = await raw(gateway, "/svc/shop/up", { method: "POST", headers: { "transfer-encoding": "chunked" }, body });
    expect(answer.body.equals(body)).toBe(true);
  });

  test("a server that resets before its head is 502, one that cuts its body is cut", async () => {
    const reset = await raw(gateway, "/svc/shop/reset");
    expect([reset.status, reset.json()]).toEqual([
      502,
      { error: `Proxy request failed: shop: ${host === "node" ? "connection reset" : "connection lost"}` },
    ]);
    await expect(raw(gateway, "/svc/shop/cut")).rejects.toThrow(/aborted|reset|hang up/);
  });

  test("a server that isn't there is 502, and no address is told", async () => {
    const gone = await recorder({ card: () => ({ status: 404 }) });
    const other = await start({ record: { servers: [{ name: "gone", kind: "website", url: gone.url }] } });
    await gone.close();
    const answer = await raw(other, "/svc/gone/x");
    expect([answer.status, answer.json()]).toEqual([502, { error: "Proxy request failed: gone: connection refused" }]);
    await other.stop();
  });

  test("W3.2 a target that is neither a path nor an http URL is refused", async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(gateway.port, "127.0.0.1", () =>
        socket.write(`GET ftp://x/y HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nConnection: close\r\n\r\n`),
      );
      let text = "";
      socket.on("data", (chunk) => (text += chunk));
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
    expect(answer).toMatch(/^HTTP\/1.1 (400|404)/);
    expect(shop.received).toEqual([]);
  });
});
