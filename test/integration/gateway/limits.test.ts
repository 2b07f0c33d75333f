import http from "node:http";
import net from "node:net";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { JSON_HEADERS, messagesIn, post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway, type StartOptions } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, type McpOptions, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const MAX_LANES = 1_000;
const call = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });
const NOTICE = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "here" } };
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
afterAll(endHosts);

describe.each(HOSTS)("what one caller may take, on the $host host", ({ start }) => {
  const startedWith = async (options: McpOptions, more: Partial<StartOptions> = {}): Promise<[RunningGateway, McpFixture]> => {
    const items = await mcpFixture(options);
    clean.push(() => items.close());
    const gateway = await start({ record: { servers: [{ name: "items", kind: "mcp", url: items.url }] }, ...more });
    clean.push(() => gateway.stop());
    return [gateway, items];
  };

  test("a role of more than 256 characters is 400 on every route, one of 256 is served", async () => {
    const [gateway] = await startedWith({ name: "items", tools: [[{ name: "items_n" }, () => text("ok")]] });
    const role = (length: number) => ({ "AgentEnv-Role": "r".repeat(length) });
    for (const path of ["/mcp", "/svc/mcp-items/mcp", "/svc/mcp-items/x", "/state"]) {
      const answer = await post(gateway, path, call("items_n"), role(257));
      expect([path, answer.status, answer.json()]).toEqual([path, 400, { error: "the role is longer than 256 characters" }]);
    }
    expect((await post(gateway, "/mcp", call("items_n"), role(256))).status).toBe(200);
  });

  test("callers of ever new roles have at most 1000 sessions with a server: the longest unused are ended", async () => {
    const [gateway, items] = await startedWith({ name: "items", tools: [[{ name: "items_n" }, ({ session }) => text(session)]] });
    const roles = Array.from({ length: MAX_LANES + 40 }, (_, n) => `r${n}`);
    const sessionOf = async (role: string) =>
      JSON.stringify(messagesIn(await post(gateway, "/mcp", call("items_n"), { "AgentEnv-Role": role })));
    const first = await sessionOf("r0");
    for (let at = 0; at < roles.length; at += 20) await Promise.all(roles.slice(at, at + 20).map(sessionOf));
    const ended = () => items.received.filter(({ method }) => method === "DELETE").length;
    await until("the longest unused are ended", 5_000, () => ended() === 40);
    expect([await sessionOf("r0")]).not.toEqual([first]);
    const kept = items.received.length;
    await sessionOf(roles.at(-1) ?? "");
    expect(items.received.length).toBe(kept + 1);
  });

  test("32 streams are open in a session; then a call that could be one is 429, and all else goes on", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const wait = async ({ say }: { say: (message: object) => void }) => {
      say(NOTICE);
      await released;
      return text("done");
    };
    const tools: McpOptions["tools"] = [
      [{ name: "items_wait" }, wait],
      [{ name: "items_n" }, () => text("ok")],
    ];
    const [gateway] = await startedWith({ name: "items", tools });
    const session = async () => {
      const made = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
      return { "mcp-session-id": made.header("mcp-session-id") ?? "" };
    };
    const one = await session();
    const streams = await Promise.all(Array.from({ length: 32 }, () => opened(gateway, one)));
    clean.push(() => streams.map((stream) => stream.destroy()));
    expect(new Set(streams.map(({ headers }) => headers["content-type"]))).toEqual(new Set(["text/event-stream"]));

    const refused = await post(gateway, "/mcp", call("items_n"), one);
    expect([refused.status, refused.header("retry-after"), refused.json()]).toEqual([
      429,
      "1",
      { jsonrpc: "2.0", id: 1, error: { code: -32600, message: "too many streams are open" } },
    ]);
    const get = await raw(gateway, "/mcp", { headers: { ...one, accept: "text/event-stream" } });
    const ping = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, one);
    const asJson = await post(gateway, "/mcp", call("items_n"), { ...one, accept: "application/json" });
    const other = await post(gateway, "/mcp", call("items_n"), await session());
    expect([get, ping, asJson, other].map(({ status }) => status)).toEqual([429, 200, 200, 200]);

    release();
    await Promise.all(streams.map(ended));
    expect((await post(gateway, "/mcp", call("items_n"), one)).status).toBe(200);
  });

  test("a server is read no faster than the caller reads what it says ahead of the reply", async () => {
    const megabyte = `data: ${JSON.stringify({ ...NOTICE, params: { level: "info", data: "y".repeat(1_000_000) } })}\n\n`;
    const count = 150;
    let written = 0;
    const intercept: McpOptions["intercept"] = (_request, response, body) => {
      if (!body.includes("tools/call")) return false;
      const { id } = JSON.parse(body.toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      const go = (): void => {
        while (written < count) {
          written++;
          if (!response.write(megabyte)) return void response.once("drain", go);
        }
        response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text("done") })}\n\n`);
      };
      go();
      return true;
    };
    const [gateway] = await startedWith({ name: "items", tools: [[{ name: "items_n" }, () => text("ok")]], intercept });
    const body = JSON.stringify(call("items_n"));
    const socket = net.connect(gateway.port, "127.0.0.1").pause();
    clean.push(() => socket.destroy());
    const head = { host: "localhost", ...JSON_HEADERS, "content-length": body.length, connection: "close" };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${gateway.prefix}/mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`);

    let last = { written: -1, sinceMs: Date.now() };
    await until("the server has to wait, or is through", 20_000, () => {
      if (written !== last.written) last = { written, sinceMs: Date.now() };
      return written > 0 && Date.now() - last.sinceMs > 1_000;
    });
    expect(written).toBeLessThan(count / 2);

    let size = 0;
    let end = "";
    socket.on("data", (chunk) => {
      size += chunk.length;
      end = (end + chunk.toString("latin1")).slice(-500);
    });
    await new Promise((resolve) => socket.on("close", resolve).resume());
    expect([size > count * 1_000_000, end.includes('"done"')]).toEqual([true, true]);
  });
});

/** A call whose answer has begun. */
function opened(gateway: RunningGateway, headers: Record<string, string>): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { port, prefix } = gateway;
    const options = {
      host: "127.0.0.1",
      port,
      method: "POST",
      path: `${prefix}/mcp`,
      headers: { ...JSON_HEADERS, ...headers },
      agent: false,
    };
    http
      .request(options, resolve)
      .on("error", reject)
      .end(JSON.stringify(call("items_wait")));
  });
}

function ended(stream: http.IncomingMessage): Promise<void> {
  return new Promise((resolve) => stream.resume().on("end", resolve));
}
