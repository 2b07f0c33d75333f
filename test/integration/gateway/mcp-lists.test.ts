import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messagesIn, openedSession, post, postModern, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, type McpOptions, mcpFixture, RpcError, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const EVERYTHING = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} };
const PAGE_TEMPLATE = { uriTemplate: "page://{name}/{n}", name: "page", annotations: { custom: 1 } };
const RICH_PROMPT = {
  name: "plan",
  title: "Plan",
  arguments: [{ name: "city", required: true }],
  icons: [{ src: "data:,x" }],
  _meta: { a: [null] },
};

type Params = Record<string, unknown>;

afterAll(endHosts);

/** A server with one of everything: what it gives says whose it is. */
function everything(name: string, more: Required<McpOptions>["more"] = {}): Promise<McpFixture> {
  return mcpFixture({
    name,
    answerAs: "json",
    capabilities: EVERYTHING,
    tools: [
      [{ name: `${name}_say` }, () => text(name)],
      [{ name: `${name}_link` }, () => ({ content: [{ type: "resource_link", uri: `linked://${name}`, name: "l" }] })],
    ],
    more: {
      "prompts/list": () => ({ prompts: [{ ...RICH_PROMPT, name: "plan" }, { name: `${name}_prompt` }] }),
      "prompts/get": ({ name: asked, arguments: args }: Params) => ({
        messages: [],
        description: `${name} ${asked} ${JSON.stringify(args ?? null)}`,
      }),
      "resources/list": () => ({
        resources: [
          { uri: "shared://one", name: "one", extra: true },
          { uri: `own://${name}`, name },
        ],
      }),
      "resources/templates/list": () => ({ resourceTemplates: [{ ...PAGE_TEMPLATE, uriTemplate: `page://${name}/{n}` }] }),
      "resources/read": ({ uri }: Params) =>
        String(uri).startsWith("unknown:")
          ? new RpcError(-32002, "Resource not found", { uri })
          : { contents: [{ uri, text: name }], _meta: { from: name } },
      "completion/complete": ({ ref }: Params) => ({ completion: { values: [`${name} ${JSON.stringify(ref)}`] } }),
      ...more,
    },
  });
}

describe.each(HOSTS)("the lists of several servers on the $host host", ({ start }) => {
  let a: McpFixture;
  let b: McpFixture;
  let gateway: RunningGateway;
  beforeAll(async () => {
    a = await everything("a");
    b = await everything("b");
    gateway = await start({
      record: {
        servers: [
          { name: "a", kind: "mcp", url: a.url },
          { name: "b", kind: "mcp", url: b.url },
        ],
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([a.close(), b.close()]);
  });
  const ask = async (method: string, params: object = {}) => {
    const [answer] = messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method, params })) as [Record<string, unknown>];
    return answer;
  };
  const contents = async (uri: string) => {
    const { result } = (await ask("resources/read", { uri })) as { result: { contents: { text: string }[] } };
    return result.contents[0]?.text;
  };

  test("G3 F26 prompts, resources and templates of all servers are one list each, in order", async () => {
    expect(await ask("prompts/list")).toMatchObject({
      result: { prompts: [{ name: "plan" }, { name: "a_prompt" }, { name: "b_prompt" }] },
    });
    expect(await ask("resources/list")).toMatchObject({
      result: { resources: [{ uri: "shared://one" }, { uri: "own://a" }, { uri: "own://b" }] },
    });
    expect(await ask("resources/templates/list")).toMatchObject({
      result: { resourceTemplates: [{ uriTemplate: "page://a/{n}" }, { uriTemplate: "page://b/{n}" }] },
    });
  });

  test("F24 a listed prompt, resource and template keep every field", async () => {
    const { result } = (await ask("prompts/list")) as { result: { prompts: unknown[] } };
    expect(result.prompts[0]).toEqual(RICH_PROMPT);
    expect(await ask("resources/list")).toMatchObject({
      result: { resources: [{ uri: "shared://one", name: "one", extra: true }, {}, {}] },
    });
    const templates = (await ask("resources/templates/list")) as { result: { resourceTemplates: unknown[] } };
    expect(templates.result.resourceTemplates[0]).toEqual({ ...PAGE_TEMPLATE, uriTemplate: "page://a/{n}" });
  });

  test("F25 of two servers with one URI the first is listed and read, the other's stays readable under a prefix", async () => {
    expect(await contents("shared://one")).toBe("a");
    expect(await contents("env-b+shared://one")).toBe("b");
    const state = (await raw(gateway, "/state")).json() as Record<string, unknown>;
    expect([state["resource_uri_clashes"], state["prompt_name_clashes"]]).toEqual([{ "shared://one": ["a", "b"] }, { plan: ["a", "b"] }]);
  });

  test("G3 a URI is read from the server whose template made it, or whose result linked it", async () => {
    expect([await contents("page://a/7"), await contents("page://b/7")]).toEqual(["a", "b"]);
    await ask("tools/call", { name: "b_link" });
    expect(await contents("linked://b")).toBe("b");
  });

  test("G3 a URI that nobody lists is read from the first server that knows it; known to none it is an error of the era", async () => {
    expect(await contents("elsewhere://x")).toBe("a");
    expect(await ask("resources/read", { uri: "unknown:x" })).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32002, message: "Resource not found", data: { uri: "unknown:x" } },
    });
    const modern = await postModern(gateway, { method: "resources/read", params: { uri: "unknown:x" } });
    expect([modern.status, modern.json()]).toMatchObject([200, { error: { code: -32602, data: { uri: "unknown:x" } } }]);
  });

  test("G3 a prompt that clashes is got from the first server, and by its qualified name from the other", async () => {
    const description = async (name: string) =>
      ((await ask("prompts/get", { name, arguments: { city: "x" } })) as { result: { description: string } }).result.description;
    expect(await description("plan")).toBe('a plan {"city":"x"}');
    expect(await description("b__plan")).toBe('b plan {"city":"x"}');
    expect(await ask("prompts/get", { name: "nope" })).toMatchObject({ error: { code: -32602, message: "Unknown prompt: nope" } });
  });

  test("G3 a completion goes to the server that has what it is about, under the server's own name", async () => {
    const value = async (ref: object) =>
      (
        (await ask("completion/complete", { ref, argument: { name: "city", value: "p" } })) as {
          result: { completion: { values: string[] } };
        }
      ).result.completion.values[0];
    expect(await value({ type: "ref/prompt", name: "b_prompt" })).toBe('b {"type":"ref/prompt","name":"b_prompt"}');
    expect(await value({ type: "ref/prompt", name: "b__plan" })).toBe('b {"type":"ref/prompt","name":"plan"}');
    expect(await value({ type: "ref/resource", uri: "page://b/{n}" })).toBe('b {"type":"ref/resource","uri":"page://b/{n}"}');
    expect(await ask("completion/complete", { ref: { type: "ref/prompt", name: "nope" } })).toMatchObject({ error: { code: -32602 } });
  });

  test("what all servers can do is declared, and nothing else", async () => {
    const answer = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    expect((answer.json() as { result: object }).result).toMatchObject({
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
      },
    });
    expect(await ask("logging/setLevel", { level: "info" })).toMatchObject({ error: { code: -32600 } });
    const session = await openedSession(gateway);
    const unserved = await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "logging/setLevel", params: { level: "info" } }, session);
    expect(unserved.json()).toMatchObject({ error: { code: -32601 } });
  });
});

describe.each(HOSTS)("lists that are not as they should be, on the $host host", ({ start }) => {
  const served = async (
    servers: Record<string, McpFixture>,
    settings: Record<string, string>,
    use: (gateway: RunningGateway) => Promise<void>,
  ) => {
    const named = Object.entries(servers).map(([name, { url }]) => ({ name, kind: "mcp" as const, url }));
    const gateway = await start({ record: { servers: named }, settings });
    try {
      await use(gateway);
    } finally {
      await gateway.stop();
      await Promise.all(Object.values(servers).map((server) => server.close()));
    }
  };
  const names = async (gateway: RunningGateway) => {
    const [answer] = messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })) as [
      { result: { tools: { name: string }[] } },
    ];
    return answer.result.tools.map(({ name }) => name);
  };
  const warnings = async (gateway: RunningGateway) => {
    const { servers } = (await raw(gateway, "/state")).json() as { servers: { warnings?: string[] }[] };
    return servers[0]?.warnings;
  };
  const numbered = (count: number): [{ name: string }, () => object][] =>
    Array.from({ length: count }, (_, n) => [{ name: `t${n}` }, () => text(n)]);

  test.each([1, 50, 120])("F18 a server with %s tools in pages of 50 lists them all as one page", async (count) => {
    await served({ paged: await mcpFixture({ name: "paged", pageSize: 50, tools: numbered(count) }) }, {}, async (gateway) => {
      expect(await names(gateway)).toEqual(numbered(count).map(([{ name }]) => name));
    });
  });

  /** Pages by hand: cursor → items and the next cursor. */
  const withPages = (pages: Record<string, { tools: unknown[]; nextCursor?: string }>) =>
    mcpFixture({
      name: "paged",
      intercept: (request, response, body) => {
        const message = request.method === "POST" ? JSON.parse(body.toString()) : {};
        if (message.method !== "tools/list") return false;
        const cursor = message.params?.cursor;
        const result = pages[cursor === undefined ? "first" : `at ${cursor}`] ?? { tools: [] };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        return true;
      },
    });
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });

  test("F19 an empty-string cursor is followed", async () => {
    const paged = await withPages({ first: { tools: [tool("one")], nextCursor: "" }, "at ": { tools: [tool("two")] } });
    await served({ paged }, {}, async (gateway) => expect(await names(gateway)).toEqual(["one", "two"]));
  });

  test("F20 a cursor that does not advance ends the list, and /state says so", async () => {
    const again = { tools: [tool("two")], nextCursor: "x" };
    const paged = await withPages({ first: { tools: [tool("one")], nextCursor: "x" }, "at x": again });
    await served({ paged }, {}, async (gateway) => {
      expect(await names(gateway)).toEqual(["one", "two"]);
      expect(await warnings(gateway)).toEqual(["tools/list: a cursor came twice; the rest is not listed"]);
    });
  });

  test("F23 one bad tool definition costs that tool only", async () => {
    const paged = await withPages({ first: { tools: [tool("good"), { name: "bad" }, { inputSchema: {} }, null] } });
    await served({ paged }, {}, async (gateway) => {
      expect(await names(gateway)).toEqual(["good"]);
      expect((await warnings(gateway))?.length).toBe(3);
    });
  });

  test("F28 too large a list is an error that names the server, not cut JSON", async () => {
    const big = await mcpFixture({ name: "big", tools: [[{ name: "big_tool", description: "x".repeat(60_000) }, () => text("")]] });
    const small = await mcpFixture({ name: "small", tools: [[{ name: "small_tool" }, () => text("")]] });
    await served({ big, small }, { GATEWAY_MAX_MESSAGE_BYTES: "50000" }, async (gateway) => {
      expect(await names(gateway)).toEqual(["small_tool"]);
      expect(await warnings(gateway)).toEqual(["tools/list: its answer is larger than 50000 bytes"]);
    });
  });

  test("F22 in the mode qualified every tool is listed with its server's name, callable by both names", async () => {
    const long = "x".repeat(70);
    const crm = await mcpFixture({
      name: "crm",
      tools: [
        [{ name: "find" }, () => text("crm")],
        [{ name: long }, () => text("long")],
      ],
    });
    const mail = await mcpFixture({ name: "mail", tools: [[{ name: "find" }, () => text("mail")]] });
    await served({ crm, mail }, { GATEWAY_TOOL_NAMES: "qualified" }, async (gateway) => {
      const listed = await names(gateway);
      expect(listed).toEqual(["crm__find", expect.stringMatching(/^crm__x{50}_[0-9a-f]{8}$/), "mail__find"]);
      const call = async (name: string) => {
        const [answer] = messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } }));
        return said((answer as { result: unknown }).result);
      };
      expect([await call("mail__find"), await call("find"), await call(listed[1] ?? "")]).toEqual(["mail", "crm", "long"]);
    });
  });

  test("F27 URIs and the names in a page pass as they are, and bare names are callable", async () => {
    const page = { uri: "ui://page", name: "page" };
    const ui = await mcpFixture({
      name: "ui",
      capabilities: { tools: {}, resources: {} },
      tools: [[{ name: "add", _meta: { "ui/resourceUri": "ui://page" } }, () => text("added")]],
      more: {
        "resources/list": () => ({ resources: [page] }),
        "resources/templates/list": () => ({ resourceTemplates: [] }),
        "resources/read": () => ({ contents: [{ ...page, text: "<script>call('add')</script>" }] }),
      },
    });
    await served({ ui }, {}, async (gateway) => {
      const ask = async (method: string, params: object) =>
        messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method, params }))[0] as { result: unknown };
      expect(await ask("resources/read", { uri: "ui://page" })).toMatchObject({
        result: { contents: [{ uri: "ui://page", text: "<script>call('add')</script>" }] },
      });
      expect(said((await ask("tools/call", { name: "add" })).result)).toBe("added");
    });
  });

  test("F7 F51 a server that is down after the start is no one else's trouble, and is found when it comes up", async () => {
    const down = await mcpFixture({ name: "down", tools: [[{ name: "down_say" }, () => text("back")]] });
    const up = await mcpFixture({ name: "up", tools: [[{ name: "up_say" }, () => text("up")]] });
    const servers = { down, up };
    await served(servers, { GATEWAY_UPSTREAM_WAIT_S: "1" }, async (gateway) => {
      await down.close();
      expect((await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params: {} })).status).toBe(200);
      expect((await postModern(gateway, { method: "server/discover" })).status).toBe(200);
      const call = (name: string) => post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
      expect(said((messagesIn(await call("up_say"))[0] as { result: unknown }).result)).toBe("up");
      expect(messagesIn(await call("down_say"))).toMatchObject([{ result: { isError: true } }]);
      servers.down = await mcpFixture({ name: "down", port: down.port, tools: [[{ name: "down_new" }, () => text("new")]] });
      await until("the new list", 10_000, async () => (await names(gateway)).includes("down_new"));
    });
  });
});
