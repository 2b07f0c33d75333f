import type { DeploymentRecord } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { JSON_HEADERS, messagesIn, type RawAnswer, rawTo } from "../../fixtures/gateway/client.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { type Edge, startEdge } from "../../fixtures/gateway/worker-host.ts";
import { until } from "../../fixtures/until.ts";

const COUNT = 50;
const clean: (() => unknown)[] = [];
let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ DEFAULT_DEPLOYMENT: "fallback" });
  clean.push(() => edge.stop());
});
afterAll(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});

type Deployed = { readonly id: string; readonly record: Record<string, unknown>; readonly items: McpFixture };
type Message = Record<string, unknown>;

describe("N1 one Worker, many deployments", () => {
  test(`${COUNT} at once are each their own: sessions, roles, trajectories and sites`, { timeout: 180_000 }, async () => {
    const sites = await Promise.all(Array.from({ length: COUNT }, (_, n) => site(`page of d${n}`)));
    const all = await Promise.all(sites.map((shop, n) => deployed(`d${n}`, { more: [shopAt(shop, `d${n}`)] })));
    await Promise.all(all.map(({ id }) => ready(id)));

    const sessions = await Promise.all(all.map(({ id }) => opened(id)));
    const off = { role: "alice", tools: ["who"] };
    await Promise.all(all.filter((_, n) => n % 2 === 0).map(({ id }) => ask(id, "/tools/disable", { method: "POST", body: off })));
    const said = await Promise.all(all.map(({ id }, n) => callAs(id, "who", { "mcp-session-id": sessions[n] ?? "" })));
    const asAlice = await Promise.all(all.map(({ id }) => callAs(id, "who", { "agentenv-role": "alice" })));
    const foreign = await Promise.all(
      all.map(({ id }, n) => ask(id, "/mcp", { body: call("who"), headers: { "mcp-session-id": sessions[(n + 1) % COUNT] ?? "" } })),
    );
    const pages = await Promise.all(all.map(({ id }) => rawTo(edge.port, "/x", { headers: { host: `shop--${id}.localhost` } })));
    const prefixed = await Promise.all(all.map(({ id }) => ask(id, "/website/shop/x")));

    expect(said).toEqual(all.map(({ id }) => id));
    expect(asAlice).toEqual(all.map(({ id }, n) => (n % 2 === 0 ? "Tool 'who' is disabled for role 'alice'" : id)));
    expect(new Set(foreign.map(({ status }) => status))).toEqual(new Set([404]));
    for (const answers of [pages, prefixed]) expect(answers.map((answer) => answer.text)).toEqual(all.map(({ id }) => `page of ${id}`));
    expect(all.map(({ items }) => items.calls)).toEqual(all.map((_, n) => (n % 2 === 0 ? 1 : 2)));
    const logs = await Promise.all(all.map(({ id }) => ask(id, "/trajectory")));
    const results = logs.map((log) => log.text.split("\n").filter((line) => line.includes('"tool_call_result"')));
    expect(results.map((lines) => lines.length)).toEqual(all.map((_, n) => (n % 2 === 0 ? 1 : 2)));
    expect(results.map((lines, n) => lines.every((line) => line.includes(`"text":"d${n}"`)))).toEqual(all.map(() => true));
  });

  test("evicted objects lose nothing: sessions, role rules and the clock go on", async () => {
    const all = await Promise.all(["e0", "e1", "e2"].map((id) => deployed(id)));
    await Promise.all(all.map(({ id }) => ready(id)));
    const sessions = await Promise.all(all.map(({ id }) => opened(id)));
    await ask("e1", "/tools/disable", { method: "POST", body: { role: "bob", tools: "*" } });
    await ask("e2", "/clock/set-time", {
      method: "PUT",
      body: { virtual_time: "2030-01-01T00:00:00Z", virtual_seconds_per_real_second: 0 },
    });
    await Promise.all(all.map(({ id }) => edge.evict(id)));
    expect(await Promise.all(all.map(({ id }, n) => callAs(id, "who", { "mcp-session-id": sessions[n] ?? "" })))).toEqual([
      "e0",
      "e1",
      "e2",
    ]);
    expect(await Promise.all(all.map(({ id }) => callAs(id, "who", { "agentenv-role": "bob" })))).toEqual([
      "e0",
      "Tool 'who' is disabled for role 'bob'",
      "e2",
    ]);
    const times = await Promise.all(all.map(async ({ id }) => (await ask(id, "/clock/time")).json()));
    const unarmed = { ok: false, error: "clock not armed" };
    expect(times).toEqual([unarmed, unarmed, { virtual_time: "2030-01-01T00:00:00Z" }]);
  });

  test("the host counts before the path, the path before the default", async () => {
    await Promise.all(["byhost", "bypath", "fallback"].map((id) => deployed(id)));
    const whoAt = async (path: string, host: string) => {
      const answer = await rawTo(edge.port, path, { headers: { host } });
      return answer.status === 200 ? (answer.json() as { name: string }).name : answer.status;
    };
    await Promise.all(["byhost", "bypath", "fallback"].map(ready));
    const cardPath = "/.well-known/agent-env.json";
    expect([
      await whoAt(cardPath, "byhost.localhost"),
      await whoAt(`/d/bypath${cardPath}`, "byhost.localhost"),
      await whoAt(`/d/bypath${cardPath}`, "localhost"),
      await whoAt(cardPath, "localhost:8787"),
      await whoAt(cardPath, "shop--bypath.localhost"),
    ]).toEqual(["env of byhost", 404, "env of bypath", "env of fallback", 404]);
  });

  test("one whose server is away is 503 with what it waits for; the others answer as before", async () => {
    const items = await mcpFixture({ name: "gone" });
    await items.close();
    await deployed("well");
    await edge.inKv("ill", recordOf("ill", [{ name: "items", kind: "mcp", url: items.url }]));
    await ready("well");
    const [ill, well] = [await ask("ill", "/mcp", { body: call("who") }), await callAs("well", "who")];
    expect([ill.status, ill.header("retry-after"), well]).toEqual([503, "1", "well"]);
    const health = await ask("ill", "/health");
    expect([health.status, health.json()]).toMatchObject([503, { status: "starting", waiting: [{ name: "items", kind: "mcp" }] }]);
    expect(health.text).not.toContain(String(items.port));
  });
});

describe("N1 a deployment's end", () => {
  test("one that has expired is 410, its callers' streams are cut, and its servers are never contacted again", async () => {
    const shop = await site("page");
    const { items, record } = await deployed("brief", { more: [shopAt(shop, "brief")], options: { streams: true } });
    await ready("brief");
    const session = await opened("brief");
    expect(await callAs("brief", "who", { "mcp-session-id": session })).toBe("brief");
    const stream = await fetch(`http://127.0.0.1:${edge.port}/d/brief/mcp`, {
      headers: { accept: "text/event-stream", "mcp-session-id": session },
    });
    expect(stream.status).toBe(200);
    const expires_at = `${new Date(Date.now() + 3_000).toISOString().slice(0, 19)}Z`;
    await edge.inKv("brief", { ...record, expires_at, revision: 2 });
    await until("the deployment has expired", 20_000, async () => (await ask("brief", "/health")).status === 410);
    await expect(stream.text()).rejects.toThrow();
    const [before, beforePages] = [items.received.length, shop.received.length];
    const answers = await Promise.all([
      ask("brief", "/mcp", { body: call("who"), headers: { "mcp-session-id": session } }),
      ask("brief", "/svc/mcp-items/mcp", { body: call("who") }),
      ask("brief", "/website/shop/x"),
      ask("brief", "/state"),
      rawTo(edge.port, "/x", { headers: { host: "shop--brief.localhost" } }),
    ]);
    for (const answer of answers)
      expect([answer.status, answer.json()]).toEqual([410, { error: `Deployment brief expired at ${expires_at}` }]);
    expect([items.received.length, shop.received.length]).toEqual([before, beforePages]);
    await until("its servers' connections are closed", 10_000, async () => (await items.connections()) === 0);
  });

  test("one that was stopped is 410 too, at once where it is known; an extended one goes on", async () => {
    const { record } = await deployed("halted");
    const soon = await deployed("extended", { record: { expires_at: `${new Date(Date.now() + 60_000).toISOString().slice(0, 19)}Z` } });
    await Promise.all([ready("halted"), ready("extended")]);
    await edge.inR2("halted", { ...record, status: "stopped", revision: 2 });
    await edge.inKv("halted", null);
    await edge.inKv("extended", { ...soon.record, expires_at: "2999-01-01T00:00:00Z", revision: 2 });
    await until("the end is known", 10_000, async () => (await ask("halted", "/health")).status === 410);
    expect((await ask("halted", "/state")).json()).toEqual({ error: "Deployment halted was stopped" });
    expect(await callAs("extended", "who")).toBe("extended");
  });
});

const call = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });

/** A deployment of one MCP server, whose tool `who` says the deployment's id. */
async function deployed(
  id: string,
  { more = [], record = {}, options = {} }: { more?: Server[]; record?: object; options?: object } = {},
): Promise<Deployed> {
  const items = await mcpFixture({ name: id, tools: [[{ name: "who" }, () => text(id)]], ...options });
  clean.push(() => items.close());
  const whole = { ...recordOf(id, [{ name: "items", kind: "mcp", url: items.url }, ...more]), ...record };
  await edge.inKv(id, whole);
  return { id, record: whole, items };
}

type Server = z.input<typeof DeploymentRecord>["servers"][number];

function recordOf(id: string, servers: Server[]): Record<string, unknown> {
  return { deployment_id: id, revision: 1, name: `env of ${id}`, auth: { mode: "open" }, servers };
}

async function site(page: string): Promise<Recorder> {
  const shop = await recorder({
    card: () => ({ status: 200, body: card("shop") }),
    answer: (_request, response) => response.writeHead(200, { "content-type": "text/plain" }).end(page),
  });
  clean.push(() => shop.close());
  return shop;
}

function shopAt(shop: Recorder, id: string): Server {
  return { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url, label: `shop--${id}` };
}

type Asked = { readonly method?: string; readonly body?: object; readonly headers?: Record<string, string> };

function ask(
  id: string,
  path: string,
  { body, method = body === undefined ? "GET" : "POST", headers = {} }: Asked = {},
): Promise<RawAnswer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return rawTo(edge.port, `/d/${id}${path}`, { method, headers: { ...JSON_HEADERS, ...headers }, ...sent });
}

function ready(id: string): Promise<void> {
  return until(`${id} is ready`, 30_000, async () => (await ask(id, "/health")).status === 200);
}

async function opened(id: string): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const answer = await ask(id, "/mcp", { body: { jsonrpc: "2.0", id: 0, method: "initialize", params } });
  return answer.header("mcp-session-id") ?? "";
}

/** What a call's result says. */
async function callAs(id: string, tool: string, headers: Record<string, string> = {}): Promise<unknown> {
  const [message] = messagesIn(await ask(id, "/mcp", { body: call(tool), headers }));
  const { content } = (message?.["result"] ?? {}) as { content?: Message[] };
  return content?.[0]?.["text"] ?? message;
}
