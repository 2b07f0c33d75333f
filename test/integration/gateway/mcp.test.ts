import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connected, messagesIn, post, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";

const whoAmI = (name: string) =>
  [{ name, inputSchema: { type: "object" as const } }, ({ args, meta }: { args: unknown; meta: unknown }) => text({ args, meta })] as const;
const RICH = {
  name: "items_rich",
  title: "Rich",
  description: "Everything a tool may have.",
  inputSchema: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } },
  outputSchema: { type: "object", properties: { n: { type: "integer" } } },
  annotations: { readOnlyHint: true, custom: 1 },
  icons: [{ src: "data:image/png;base64,AA==" }],
  _meta: { "example.com/x": [1, null] },
  unknownField: { kept: true },
};

afterAll(endHosts);

describe.each(HOSTS)("/mcp on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  let stock: McpFixture;
  const clients: Client[] = [];
  const client = async (role?: string) => {
    const made = await connected(gateway, role);
    clients.push(made);
    return made;
  };

  beforeAll(async () => {
    items = await mcpFixture({
      name: "items",
      pageSize: 2,
      tools: [
        [...whoAmI("items_who")],
        [RICH, () => ({ ...text("ok"), structuredContent: { n: 1 }, extra: { kept: true }, _meta: { "example.com/y": 2 } })],
        [{ name: "find", inputSchema: { type: "object" } }, () => text("items")],
        [{ name: "items_secret", inputSchema: { type: "object" }, _meta: { "agentenv.io/hiddenByDefault": true } }, () => text("secret")],
        [
          { name: "items_progress", inputSchema: { type: "object" } },
          ({ meta, say }) => {
            for (const progress of [1, 2, 3])
              say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: meta["progressToken"], progress } });
            return text("done");
          },
        ],
      ],
    });
    stock = await mcpFixture({
      name: "stock",
      answerAs: "json",
      tools: [[...whoAmI("stock_who")], [{ name: "find", inputSchema: { type: "object" } }, () => text("stock")]],
    });
    gateway = await start({
      record: {
        servers: [
          { name: "items", kind: "mcp", url: items.url },
          { name: "stock", kind: "mcp", url: stock.url },
        ],
      },
    });
  });
  afterAll(async () => {
    await Promise.all(clients.map((made) => made.close()));
    await gateway.stop();
    await Promise.all([items.close(), stock.close()]);
  });

  test("F18 all pages of all servers are one list, in order, and a clash costs the second tool of that name only", async () => {
    const { tools } = await (await client()).listTools();
    expect(tools.map(({ name }) => name)).toEqual(["items_who", "items_rich", "find", "items_progress", "stock_who"]);
    expect(said(await (await client()).callTool({ name: "find" }))).toBe("items");
    const state = (await raw(gateway, "/state")).json() as Record<string, unknown>;
    expect(state["tool_name_clashes"]).toEqual({ find: ["items", "stock"] });
  });

  test("V22 what a clash hides is still callable by its qualified name", async () => {
    expect(said(await (await client()).callTool({ name: "stock__find" }))).toBe("stock");
  });

  test("V59 F24 a listed tool keeps every field that it had", async () => {
    const answer = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" });
    const [{ result }] = messagesIn(answer) as [{ result: { tools: { name: string }[] } }];
    expect(result.tools.find(({ name }) => name === "items_rich")).toEqual(RICH);
  });

  test("F24 a result passes as it is", async () => {
    const answer = await post(gateway, "/mcp", { jsonrpc: "2.0", id: "x", method: "tools/call", params: { name: "items_rich" } });
    expect(messagesIn(answer)).toEqual([
      {
        jsonrpc: "2.0",
        id: "x",
        result: {
          content: [{ type: "text", text: "ok" }],
          structuredContent: { n: 1 },
          extra: { kept: true },
          _meta: { "example.com/y": 2 },
        },
      },
    ]);
  });

  test("V24 F29 arguments arrive as they were sent, long integers too", async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"items_who","arguments":{"list":"[1,2]","nope":1,"n":12345678901234567890,"f":1.50}}}';
    await post(gateway, "/mcp", body);
    expect(items.received.at(-1)?.body.toString()).toContain('"arguments":{"list":"[1,2]","nope":1,"n":12345678901234567890,"f":1.50}');
  });

  test("V25 a session acts as the role that opened it, whatever a call claims; with another role it is unknown", async () => {
    const opened = await post(
      gateway,
      "/mcp",
      {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      },
      { "AgentEnv-Role": "carol" },
    );
    const session = opened.header("mcp-session-id") ?? "";
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "items_who", _meta: { "agentenv.io/role": "admin", "agentenv.io/session": "forged", kept: 1 } },
    };
    const [{ result }] = messagesIn(await post(gateway, "/mcp", call, { "mcp-session-id": session })) as [{ result: unknown }];
    expect(JSON.parse(said(result))["meta"]).toEqual({
      kept: 1,
      "agentenv.io/role": "carol",
      "agentenv.io/session": expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const other = await post(gateway, "/mcp", call, { "mcp-session-id": session, "AgentEnv-Role": "mallory" });
    expect([other.status, other.json()]).toEqual([404, { jsonrpc: "2.0", id: 1, error: { code: -32001, message: "session not found" } }]);
  });

  test("V26 two sessions have two session keys, each the same at every server and call", async () => {
    const [one, two] = [await client(), await client()];
    const keyOf = async (made: Client, name: string) => JSON.parse(said(await made.callTool({ name })))["meta"]["agentenv.io/session"];
    const keys = [
      await keyOf(one, "items_who"),
      await keyOf(one, "stock_who"),
      await keyOf(two, "items_who"),
      await keyOf(two, "items_who"),
    ];
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).toBe(keys[3]);
    expect(keys[0]).not.toBe(keys[2]);
  });

  test("a tool hidden by default is neither listed nor called", async () => {
    const result = await (await client()).callTool({ name: "items_secret" });
    expect(result).toEqual({ content: [{ type: "text", text: "Tool 'items_secret' is disabled for role 'default'" }], isError: true });
  });

  test("an unknown tool is a result that says so", async () => {
    expect(await (await client("alice")).callTool({ name: "nope" })).toEqual({
      content: [{ type: "text", text: "Unknown tool: nope" }],
      isError: true,
    });
  });

  test("F34 progress comes under the caller's own token, in order, before the result", async () => {
    const seen: number[] = [];
    const result = await (await client()).callTool({ name: "items_progress" }, undefined, {
      onprogress: ({ progress }) => void seen.push(progress),
    });
    expect([seen, said(result)]).toEqual([[1, 2, 3], "done"]);
  });

  test("F32 without a token there is no progress", async () => {
    const answer = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_progress" } });
    expect(messagesIn(answer).map(({ id }) => id)).toEqual([1]);
  });

  test("F15 32 calls at once with one id on one session each get their own answer", async () => {
    const made = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
    const session = made.header("mcp-session-id") ?? "";
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, n) =>
        post(
          gateway,
          "/mcp",
          { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_who", arguments: { n } } },
          { "mcp-session-id": session },
        ),
      ),
    );
    const numbers = answers.map((answer) => JSON.parse(said((messagesIn(answer)[0] as { result: unknown }).result))["args"]["n"]);
    expect(numbers).toEqual(Array.from({ length: 32 }, (_, n) => n));
  });
});
