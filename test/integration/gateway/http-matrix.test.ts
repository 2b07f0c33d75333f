import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JSON_HEADERS, PING, post, raw, rawTo } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

afterAll(endHosts);

describe.each(HOSTS)("the HTTP matrix of /mcp on the $host host", ({ host, start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  beforeAll(async () => {
    items = await mcpFixture({ name: "items", tools: [[{ name: "items_say", inputSchema: { type: "object" } }, () => text("said")]] });
    gateway = await start({
      record: { servers: [{ name: "items", kind: "mcp", url: items.url }] },
      settings: { GATEWAY_MAX_MESSAGE_BYTES: "100000" },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await items.close();
  });
  const opened = async (version = "2025-11-25") => {
    const answer = await post(gateway, "/mcp", { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: version } });
    return { "mcp-session-id": answer.header("mcp-session-id") ?? "" };
  };

  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2024-11-05", "2024-11-05"],
    ["2099-01-01", "2025-11-25"],
  ])("initialize with %s is answered with %s, in a session of at most 512 visible characters", async (asked, given) => {
    const answer = await post(gateway, "/mcp", { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: asked } });
    expect(answer.json()).toEqual({
      jsonrpc: "2.0",
      id: 0,
      result: { protocolVersion: given, capabilities: { tools: { listChanged: true } }, serverInfo: { name: "demo", version: "0.1.0" } },
    });
    expect(answer.header("mcp-session-id")).toMatch(/^[\x21-\x7e]{20,512}$/);
  });

  test("a notification is 202 without a body", async () => {
    const answer = await post(gateway, "/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, await opened());
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });

  test.each([
    ["missing", undefined, 200, "application/json"],
    ["*/*", "*/*", 200, "application/json"],
    ["JSON only", "application/json", 200, "application/json"],
    ["SSE only", "text/event-stream", 200, "text/event-stream"],
    ["neither", "text/html", 406, "application/json"],
  ])("F41 Accept %s", async (_name, accept, status, type) => {
    const headers: Record<string, string> = { "content-type": "application/json", ...(accept === undefined ? {} : { accept }) };
    const answer = await raw(gateway, "/mcp", { method: "POST", headers, body: JSON.stringify(PING) });
    expect([answer.status, answer.header("content-type")]).toEqual([status, type]);
  });

  test.each([
    ["no Content-Type", { headers: { accept: "*/*" }, body: JSON.stringify(PING) }, 415, -32600],
    ["text/plain", { headers: { "content-type": "text/plain" }, body: JSON.stringify(PING) }, 415, -32600],
    ["an unknown coding", { headers: { ...JSON_HEADERS, "content-encoding": "zstd" }, body: JSON.stringify(PING) }, 415, -32600],
    ["an empty body", { headers: JSON_HEADERS, body: "" }, 400, -32700],
    ["no JSON", { headers: JSON_HEADERS, body: "{" }, 400, -32700],
    ["no UTF-8", { headers: JSON_HEADERS, body: Buffer.from([0x22, 0xff, 0x22]) }, 400, -32700],
    ["no JSON-RPC", { headers: JSON_HEADERS, body: '{"a":1}' }, 400, -32600],
    ["a batch", { headers: JSON_HEADERS, body: JSON.stringify([PING]), version: "2025-11-25" }, 400, -32600],
    [
      "too deep",
      { headers: JSON_HEADERS, body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(200)}${"]".repeat(200)}}` },
      400,
      -32600,
    ],
    ["too large", { headers: JSON_HEADERS, body: JSON.stringify({ ...PING, params: { pad: "x".repeat(100_001) } }) }, 413, -32600],
    ["a coding that the body isn't in", { headers: { ...JSON_HEADERS, "content-encoding": "gzip" }, body: "plain" }, 400, -32700],
  ])("%s is refused", async (_name, { headers, body, ...more }, status, code) => {
    const versioned = "version" in more ? { ...headers, "mcp-protocol-version": more.version } : headers;
    const answer = await raw(gateway, "/mcp", { method: "POST", headers: versioned, body });
    expect([answer.status, (answer.json() as { error: { code: number } }).error.code]).toEqual([status, code]);
  });

  test("a batch is taken where 2025-03-26 is in force", async () => {
    const batch = [
      PING,
      { jsonrpc: "2.0", method: "notifications/x" },
      { jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "items_say" } },
    ];
    const answer = await post(gateway, "/mcp", batch, await opened("2025-03-26"));
    expect(answer.json()).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: "b", result: { content: [{ type: "text", text: "said" }] } },
    ]);
  });

  test("F13 a request without a session is served, without one", async () => {
    const answer = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_say" } });
    expect([answer.status, answer.header("mcp-session-id")]).toEqual([200, undefined]);
  });

  test("V25 F10 an unknown session is 404 -32001, for every method", async () => {
    const unknown = { "mcp-session-id": "1.AAAA" };
    const answers = [
      await post(gateway, "/mcp", PING, unknown),
      await raw(gateway, "/mcp", { headers: { ...unknown, accept: "text/event-stream" } }),
      await raw(gateway, "/mcp", { method: "DELETE", headers: unknown }),
    ];
    expect(answers.map((answer) => [answer.status, (answer.json() as { error: { code: number } }).error.code])).toEqual([
      [404, -32001],
      [404, -32001],
      [404, -32001],
    ]);
  });

  test("DELETE ends a session: 200, then 404", async () => {
    const session = await opened();
    const statuses = [
      await raw(gateway, "/mcp", { method: "DELETE", headers: session }),
      await raw(gateway, "/mcp", { method: "DELETE", headers: session }),
      await post(gateway, "/mcp", PING, session),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([200, 404, 404]);
  });

  test("F38 GET without a session, DELETE without one, PUT, PATCH and HEAD are 405 with Allow", async () => {
    for (const method of ["GET", "DELETE", "PUT", "PATCH", "HEAD"]) {
      const answer = await raw(gateway, "/mcp", { method, headers: { accept: "text/event-stream" } });
      expect([method, answer.status, answer.header("allow")]).toEqual([method, 405, "POST, GET, DELETE"]);
    }
  });

  test("a version that is no one's is 400 and names those served; a modern one fails on what modern requests need", async () => {
    const answer = async (version: string) => {
      const { status, json } = await post(gateway, "/mcp", PING, { "mcp-protocol-version": version });
      return [status, json()];
    };
    const error = (code: number, message: string) => [400, { jsonrpc: "2.0", id: 1, error: { code, message } }];
    const served = "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05";
    expect(await answer("1999-01-01")).toEqual(error(-32600, `MCP "1999-01-01" is not served here; ${served} are`));
    for (const version of ["2026-07-28", "2027-01-01"]) expect(await answer(version)).toEqual(error(-32020, "mcp-method is missing"));
  });

  test("an unknown method is 200 -32601, an unknown cursor 200 -32602", async () => {
    const method = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 5, method: "foo/bar" });
    const cursor = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 6, method: "tools/list", params: { cursor: "x" } });
    expect([method.status, method.json()]).toEqual([
      200,
      { jsonrpc: "2.0", id: 5, error: { code: -32601, message: "method not found: foo/bar" } },
    ]);
    expect([cursor.status, cursor.json()]).toEqual([200, { jsonrpc: "2.0", id: 6, error: { code: -32602, message: "unknown cursor" } }]);
  });

  test("F39 /mcp/ is /mcp, without a redirect", async () => {
    expect((await post(gateway, "/mcp/", PING)).json()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });

  test("a foreign Origin or Host is 403; the address's own origin is served", async () => {
    const statuses = async (headers: Record<string, string>) => (await post(gateway, "/mcp", PING, headers)).status;
    expect(await statuses({ origin: "http://evil.example" })).toBe(403);
    expect(await statuses({ host: "evil.example" })).toBe(403);
    // where the origin is shared by deployments a site's page may be behind it
    expect(await statuses({ origin: `http://127.0.0.1:${gateway.port}` })).toBe(host === "node" ? 200 : 401);
  });

  test("F42 a preflight allows every MCP header, and every answer exposes the session", async () => {
    const origin = `http://127.0.0.1:${gateway.port}`;
    const answer = await raw(gateway, "/mcp", {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "mcp-param-region, x-evil" },
    });
    expect([answer.status, answer.header("access-control-allow-headers")]).toEqual([
      204,
      "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, AgentEnv-Role, mcp-param-region",
    ]);
    expect((await raw(gateway, "/mcp", { method: "PUT" })).header("access-control-expose-headers")).toBe(
      "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
    );
  });

  test("G9 a URL over 8 KiB is 414, headers over 64 KiB are 431, a ninth hop is 508", async () => {
    expect((await raw(gateway, `/svc/mcp-items/${"x".repeat(9_000)}`)).status).toBe(414);
    expect((await raw(gateway, "/health", { headers: { "agentenv-hops": "8" } })).status).toBe(508);
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`x-pad-${n}`, "y".repeat(1_000)]));
    expect((await raw(gateway, "/health", { headers: many })).status).toBe(431);
  });

  test("an absolute-form target is read as its path", async () => {
    expect((await rawTo(gateway.port, `http://127.0.0.1:${gateway.port}${gateway.prefix}/health`)).status).toBe(200);
  });

  test("the host that is checked is the one that the request is read by", async () => {
    const answer = await rawTo(gateway.port, `http://evil.example${gateway.prefix}/health`, {
      headers: { host: `127.0.0.1:${gateway.port}` },
    });
    // workerd gives the Worker the Host header, and drops the host of an absolute-form target
    expect(answer.status).toBe(host === "node" ? 403 : 200);
  });
});
