import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messagesIn, modernBody, modernHeaders, post, postModern, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type ModernFixture, modernFixture } from "../../fixtures/gateway/modern-server.ts";
import { until } from "../../fixtures/until.ts";

const CALL = { method: "tools/call", params: { name: "items_say", arguments: {} } };
const HEADED = {
  name: "region_say",
  inputSchema: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" }, count: { type: "integer", "x-mcp-header": "Count" } },
  },
};

afterAll(endHosts);

describe.each(HOSTS)("both eras on the $host host", ({ start }) => {
  let items: McpFixture;
  let modern: ModernFixture;
  let gateway: RunningGateway;
  beforeAll(async () => {
    items = await mcpFixture({
      name: "items",
      answerAs: "json",
      capabilities: { tools: {}, prompts: {} },
      more: { "prompts/list": () => ({ prompts: [] }) },
      tools: [[{ name: "items_say" }, ({ meta }) => ({ ...text("said"), _meta: { got: meta } })]],
    });
    modern = await modernFixture({
      tools: [
        [{ name: "modern_say" }, ({ params }) => text(params["_meta"])],
        [HEADED, ({ headers }) => text([headers["mcp-name"], headers["mcp-param-region"], headers["mcp-param-count"]])],
        [
          { name: "bad_header", inputSchema: { type: "object", properties: { a: { type: "object", "x-mcp-header": "A" } } } },
          () => text(""),
        ],
        [{ name: "any_value" }, () => ({ content: [], structuredContent: [null, 1] })],
      ],
    });
    gateway = await start({
      record: {
        servers: [
          { name: "items", kind: "mcp", url: items.url },
          { name: "modern", kind: "mcp", url: modern.url },
        ],
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([items.close(), modern.close()]);
  });
  const outcome = (answer: { status: number; json(): unknown }): [number, number | undefined] => {
    const { error } = answer.json() as { error?: { code: number } };
    return [answer.status, error?.code];
  };

  test("G2 F56 discover names the modern version, what all servers can do, and isn't kept", async () => {
    const answer = await postModern(gateway, { method: "server/discover" });
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        jsonrpc: "2.0",
        id: 1,
        result: {
          resultType: "complete",
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } },
          ttlMs: 0,
          cacheScope: "private",
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "demo", version: "0.1.0" } },
        },
      },
    ]);
  });

  test("G2 one modern list has the tools of servers of both eras, and isn't kept either", async () => {
    const { result } = (await postModern(gateway, { method: "tools/list" })).json() as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(["items_say", "modern_say", "region_say", "any_value"]);
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  });

  test("F23 a tool whose header can't be sent is left out, and /state says why", async () => {
    const { servers } = (await raw(gateway, "/state")).json() as { servers: { name: string; warnings?: string[] }[] };
    expect(servers.find(({ name }) => name === "modern")?.warnings).toEqual([
      'tools/list: "bad_header" is not listed: x-mcp-header of "a" is on something other than a string, integer or boolean',
    ]);
  });

  test("a modern call of a legacy server gets a complete result, with nothing of the modern keys sent on", async () => {
    const answer = await postModern(gateway, { ...CALL, params: { ...CALL.params, _meta: { kept: 1 } } });
    expect(answer.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        content: [{ type: "text", text: "said" }],
        _meta: { got: { kept: 1, "agentenv.io/role": "default" } },
      },
    });
  });

  test("a legacy call of a modern server says on the gateway's behalf who asks, and any structured content passes", async () => {
    const call = (name: string) => post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
    const [answer] = messagesIn(await call("modern_say")) as [{ result: unknown }];
    expect(JSON.parse(said(answer.result))).toEqual({
      "agentenv.io/role": "default",
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "agent-env-gateway", version: "0.1.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    });
    expect(messagesIn(await call("any_value"))).toMatchObject([{ result: { structuredContent: [null, 1] } }]);
  });

  test("F57 the name and argument headers upstream are made anew from the server's own name and schema", async () => {
    const params = { name: "modern__region_say", arguments: { region: "süd", count: 3 } };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const expected = JSON.stringify(["region_say", "=?base64?c8O8ZA==?=", "3"]);
    expect(said((messagesIn(await post(gateway, "/mcp", call))[0] as { result: unknown }).result)).toBe(expected);
    const headers = { "mcp-param-region": "=?base64?c8O8ZA==?=", "mcp-param-count": "3.0" };
    const answer = await postModern(gateway, { method: "tools/call", params }, headers);
    expect(said((answer.json() as { result: unknown }).result)).toBe(expected);
  });

  test.each([
    ["no version header", { "mcp-protocol-version": "" }, -32020],
    ["another version header", { "mcp-protocol-version": "2025-11-25" }, -32020],
    ["another method", { "mcp-method": "tools/list" }, -32020],
    ["another name", { "mcp-name": "items_sa" }, -32020],
    ["a name in broken base64", { "mcp-name": "=?base64?*?=" }, -32020],
  ])("a modern request with %s is 400", async (_name, headers, code) => {
    expect(outcome(await postModern(gateway, CALL, headers))).toEqual([400, code]);
  });

  test.each(["mcp-method", "mcp-name", "mcp-protocol-version"])("a modern request without %s is 400 -32020", async (name) => {
    const { [name]: _left, ...headers } = modernHeaders(CALL);
    expect(outcome(await post(gateway, "/mcp", modernBody(CALL), headers))).toEqual([400, -32020]);
  });

  test("argument headers must be there exactly for the arguments that are", async () => {
    const call = (args: object, headers: Record<string, string>) =>
      postModern(gateway, { method: "tools/call", params: { name: "region_say", arguments: args } }, headers);
    expect(outcome(await call({ region: "x" }, {}))).toEqual([400, -32020]);
    expect(outcome(await call({ region: "x" }, { "mcp-param-region": "y" }))).toEqual([400, -32020]);
    expect(outcome(await call({ region: null }, { "mcp-param-region": "y" }))).toEqual([400, -32020]);
    expect(outcome(await call({ region: "x", count: 3 }, { "mcp-param-region": "x", "mcp-param-count": "3.0" }))).toEqual([200, undefined]);
  });

  test("without its keys in _meta a modern request is 400 -32602, with another version 400 -32022", async () => {
    const { _meta, ...params } = CALL.params as Record<string, unknown>;
    const bare = (meta: object) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta: meta } });
    expect(outcome(await post(gateway, "/mcp", bare({}), modernHeaders(CALL)))).toEqual([400, -32602]);
    const version = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    expect(outcome(await post(gateway, "/mcp", bare(version), modernHeaders(CALL)))).toEqual([400, -32602]);
    const later = { ...CALL, params: { ...CALL.params, _meta: { "io.modelcontextprotocol/protocolVersion": "2027-01-01" } } };
    const answer = await postModern(gateway, later, { "mcp-protocol-version": "2027-01-01" });
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { id: 1, error: { code: -32022, data: { requested: "2027-01-01", supported: ["2026-07-28"] } } },
    ]);
  });

  test.each(["ping", "initialize", "logging/setLevel", "resources/subscribe", "foo/bar"])("a modern %s is 404 -32601", async (method) => {
    expect(outcome(await postModern(gateway, { method }))).toEqual([404, -32601]);
  });

  test("what no server has isn't served: completion is 404 modern, -32601 legacy", async () => {
    expect(outcome(await postModern(gateway, { method: "completion/complete" }))).toEqual([404, -32601]);
    const legacy = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "completion/complete", params: {} });
    expect(outcome(legacy)).toEqual([200, -32601]);
  });

  test("a modern session id is ignored, a response refused, a notification taken, GET and DELETE are 405", async () => {
    expect((await postModern(gateway, CALL, { "mcp-session-id": "nobody's" })).status).toBe(200);
    const version = { "mcp-protocol-version": "2026-07-28" };
    const response = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, result: {} }, version);
    expect(outcome(response)).toEqual([400, -32600]);
    const notice = await postModern(gateway, { method: "notifications/x" });
    const { id: _id, ...body } = modernBody({ method: "notifications/x" });
    expect([notice.status, (await post(gateway, "/mcp", body, modernHeaders({ method: "notifications/x" }))).status]).toEqual([404, 202]);
    for (const method of ["GET", "DELETE"]) {
      const answer = await raw(gateway, "/mcp", { method, headers: { ...version, accept: "text/event-stream" } });
      expect([answer.status, answer.header("allow")]).toEqual([405, "POST"]);
    }
  });

  test("a batch in a modern request is 400", async () => {
    expect(outcome(await post(gateway, "/mcp", [modernBody(CALL)], modernHeaders(CALL)))).toEqual([400, -32600]);
  });

  test("discover without the modern keys is a legacy method that there isn't", async () => {
    expect(outcome(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "server/discover" }))).toEqual([200, -32601]);
  });

  test("F45 every request to a legacy server after initialize says the version", () => {
    const posts = items.received.filter(
      ({ method, body }) => method === "POST" && !/"(initialize|server\/discover)"/.test(body.toString()),
    );
    const said = new Set(posts.map(({ headers }) => headers.find(([name]) => name.toLowerCase() === "mcp-protocol-version")?.[1]));
    expect([posts.length > 5, [...said]]).toEqual([true, ["2025-11-25"]]);
  });
});

describe.each(HOSTS)("which era a server speaks, on the $host host", ({ start }) => {
  /** A legacy server that answers `server/discover` in a way of its own. */
  const answering = (status: number, body: string) =>
    mcpFixture({
      name: "odd",
      tools: [[{ name: "odd_say" }, () => text("said")]],
      intercept: (request, response, sent) => {
        if (request.url === "/ready") {
          response.writeHead(404).end();
          return true;
        }
        if (!sent.toString().includes("server/discover")) return false;
        response.writeHead(status, { "content-type": "application/json" }).end(body);
        return true;
      },
    });
  const CALL_ODD = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "odd_say" } };

  test.each([
    [400, "{}"],
    [404, ""],
    [405, ""],
    [406, ""],
    [200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}'],
  ])("F54 %s %s leads to legacy", async (status, body) => {
    const odd = await answering(status, body);
    const gateway = await start({ record: { servers: [{ name: "odd", kind: "mcp", url: odd.url }] } });
    try {
      expect(said((messagesIn(await post(gateway, "/mcp", CALL_ODD))[0] as { result: unknown }).result)).toBe("said");
    } finally {
      await gateway.stop();
      await odd.close();
    }
  });

  test.each([401, 403, 429, 503])("F55 %s leads to no verdict: the server isn't up", async (status) => {
    const odd = await answering(status, "");
    const gateway = await start({ record: { servers: [{ name: "odd", kind: "mcp", url: odd.url }] }, waitUntilReady: false });
    try {
      await until("the server was tried", 10_000, async () => (await raw(gateway, "/health")).text.includes(`HTTP ${status}`));
      expect(odd.received.some(({ body }) => body.toString().includes('"initialize"'))).toBe(false);
    } finally {
      await gateway.stop();
      await odd.close();
    }
  });

  test("F58 a server that is modern after a restart is noticed without one of the gateway", async () => {
    const before = await mcpFixture({ name: "items", tools: [[{ name: "items_say" }, () => text("legacy")]] });
    const { port } = before;
    const gateway = await start({ record: { servers: [{ name: "items", kind: "mcp", url: before.url }] } });
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_say" } };
    const answer = async () => said((messagesIn(await post(gateway, "/mcp", call))[0] as { result: unknown }).result);
    expect(await answer()).toBe("legacy");
    await before.close();
    const after = await modernFixture({ port, tools: [[{ name: "items_say" }, () => text("modern")]] });
    try {
      await until("a modern answer", 10_000, async () => (await answer()) === "modern");
    } finally {
      await gateway.stop();
      await after.close();
    }
  });
});
