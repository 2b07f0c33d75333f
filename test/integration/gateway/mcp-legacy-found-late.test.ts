import http from "node:http";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { messagesIn, openedSession, post, postModern, raw, said, streamFrom } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway, type StartOptions } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, type Received, text } from "../../fixtures/gateway/mcp-server.ts";
import { type ModernFixture, type ModernOptions, modernFixture } from "../../fixtures/gateway/modern-server.ts";
import { until } from "../../fixtures/until.ts";

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
afterAll(endHosts);

const LISTED = { method: "tools/list" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const callOf = (name: string) => ({ method: "tools/call", params: { name, arguments: {} } });
const mcp = (name: string, { url }: { url: string }) => ({ name, kind: "mcp" as const, url });
const initializesAt = ({ received }: { received: readonly Received[] }): number =>
  received.filter(({ body }) => body.toString().includes('"initialize"')).length;

async function modernServer(options: ModernOptions = {}): Promise<ModernFixture> {
  const made = await modernFixture({ tools: [[{ name: "modern_say" }, () => text("modern")]], ...options });
  clean.push(() => made.close());
  return made;
}

/** A server with something to say in each era: the modern one is behind the other. */
async function dualServer(): Promise<McpFixture> {
  const modern = await modernServer();
  const made = await mcpFixture({
    name: "dual",
    streams: true,
    capabilities: { tools: { listChanged: true }, prompts: {}, logging: {} },
    more: { "prompts/list": () => ({ prompts: [] }) },
    tools: [[{ name: "legacy_say" }, () => text("legacy")]],
    intercept: (request, response, body) => {
      if (request.headers["mcp-protocol-version"] !== "2026-07-28") return false;
      const { method, headers } = request;
      const sent = http.request(`${modern.url}/mcp`, { method, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.on("error", () => response.destroy());
        answer.pipe(response);
      });
      sent.on("error", () => response.destroy());
      response.on("close", () => sent.destroy());
      sent.end(body);
      return true;
    },
  });
  clean.push(() => made.close());
  return made;
}

describe.each(HOSTS)("the legacy era of a modern server, on the $host host", ({ start }) => {
  const started = async (options: StartOptions): Promise<RunningGateway> => {
    const gateway = await start(options);
    clean.push(() => gateway.stop());
    return gateway;
  };
  const legacy = async (gateway: RunningGateway, message: object, headers: Record<string, string> = {}) =>
    messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, ...message }, headers))[0] as { result: Record<string, unknown> };
  const modern = async (gateway: RunningGateway, message: { method: string }) =>
    messagesIn(await postModern(gateway, message))[0] as { result: Record<string, unknown> };
  const names = ({ result }: { result: Record<string, unknown> }) => (result["tools"] as { name: string }[]).map(({ name }) => name);

  test("G2 neither the start, nor a modern client, nor /step, nor /state has a modern server sent a handshake", async () => {
    const server = await modernServer();
    const gateway = await started({ record: { servers: [mcp("modern", server)] } });
    expect(names(await modern(gateway, LISTED))).toEqual(["modern_say"]);
    expect(said((await modern(gateway, callOf("modern_say"))).result)).toBe("modern");
    const step = { action: "call_tool", tool_name: "modern_say", arguments: {} };
    expect(said((await post(gateway, "/step", step)).json())).toBe("modern");
    expect((await raw(gateway, "/state")).json()).toMatchObject({ servers: [{ name: "modern", status: "up", tools: 1 }] });
    expect(initializesAt(server)).toBe(0);
  });

  test("G2 the first legacy clients have a modern server asked once, in all, and are served by way of its own era", async () => {
    const server = await modernServer();
    const gateway = await started({ record: { servers: [mcp("modern", server)] } });
    const ask = () => legacy(gateway, callOf("modern_say"));
    for (const { result } of await Promise.all(Array.from({ length: 8 }, ask))) expect(said(result)).toBe("modern");
    expect(said((await legacy(gateway, callOf("modern_say"), await openedSession(gateway))).result)).toBe("modern");
    expect(initializesAt(server)).toBe(1);
  });

  test("G2 a ping is no use of a server: it has none asked", async () => {
    const server = await modernServer();
    const gateway = await started({ record: { servers: [mcp("modern", server)] } });
    expect(await legacy(gateway, { method: "ping" })).toMatchObject({ result: {} });
    expect(initializesAt(server)).toBe(0);
  });

  test("G2 a client is told what a server has in the client's own era, legacy ones from the first handshake on", async () => {
    const gateway = await started({ record: { servers: [mcp("dual", await dualServer())] } });
    const discovered = async () => (await modern(gateway, { method: "server/discover" })).result["capabilities"];
    expect(await discovered()).toEqual({ tools: { listChanged: true } });
    const told = { tools: { listChanged: true }, prompts: { listChanged: true }, logging: {} };
    expect((await legacy(gateway, INITIALIZE)).result["capabilities"]).toEqual(told);
    expect(await discovered()).toEqual({ tools: { listChanged: true } });
    expect((await postModern(gateway, { method: "prompts/list" })).status).toBe(404);
    expect(await legacy(gateway, { method: "prompts/list" })).toMatchObject({ result: { prompts: [] } });
  });

  test("G2 each client sees the lists of its own era and is served in it", async () => {
    const gateway = await started({ record: { servers: [mcp("dual", await dualServer())] } });
    expect(names(await modern(gateway, LISTED))).toEqual(["modern_say"]);
    expect(names(await legacy(gateway, LISTED))).toEqual(["legacy_say"]);
    expect(said((await legacy(gateway, callOf("legacy_say"))).result)).toBe("legacy");
    expect(said((await modern(gateway, callOf("modern_say"))).result)).toBe("modern");
    expect(names(await modern(gateway, LISTED))).toEqual(["modern_say"]);
  });

  test("F35 a list that changes in the era that was found late is told to its clients", async () => {
    const server = await dualServer();
    const gateway = await started({ record: { servers: [mcp("dual", server)] } });
    const session = await openedSession(gateway);
    const stream = streamFrom(gateway, { headers: session });
    clean.push(async () => stream.close());
    expect(names(await legacy(gateway, LISTED, session))).toEqual(["legacy_say"]);
    expect(stream.messages).toEqual([]);
    server.tools.set("legacy_new", { tool: { name: "legacy_new", inputSchema: { type: "object" } }, handler: () => text("new") });
    await until("the change is told", 10_000, () => {
      server.push({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return stream.messages.some(({ method }) => method === "notifications/tools/list_changed");
    });
    expect(names(await legacy(gateway, LISTED, session))).toEqual(["legacy_say", "legacy_new"]);
  });

  test("G8 what was found out is known after a restart of the gateway: the same session goes on in its era", async () => {
    const server = await dualServer();
    const gateway = await started({ restarts: true, record: { servers: [mcp("dual", server)] } });
    const session = await openedSession(gateway);
    expect(said((await legacy(gateway, callOf("legacy_say"), session)).result)).toBe("legacy");
    await gateway.restart();
    expect(said((await legacy(gateway, callOf("legacy_say"), session)).result)).toBe("legacy");
    expect(said((await modern(gateway, callOf("modern_say"))).result)).toBe("modern");
  });

  test("F58 a modern server that has been away is asked once more, by the next legacy client", async () => {
    const before = await modernServer();
    const gateway = await started({ record: { servers: [mcp("modern", before)] } });
    expect(said((await legacy(gateway, callOf("modern_say"))).result)).toBe("modern");
    await before.close();
    const waiting = modern(gateway, callOf("modern_say"));
    await until("the server is missed", 10_000, async () => (await raw(gateway, "/state")).text.includes('"down"'));
    const after = await modernServer({ port: before.port });
    expect(said((await waiting).result)).toBe("modern");
    expect(initializesAt(after)).toBe(0);
    expect(said((await legacy(gateway, callOf("modern_say"))).result)).toBe("modern");
    expect(said((await legacy(gateway, callOf("modern_say"))).result)).toBe("modern");
    expect(initializesAt(after)).toBe(1);
  });
});
