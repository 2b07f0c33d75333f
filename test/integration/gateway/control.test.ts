import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connected, post, type RawAnswer, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type ItemsAndShop, startItemsAndShop } from "../../fixtures/gateway/items-and-shop.ts";
import { type McpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import type { Recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

afterAll(endHosts);

const told = (answer: RawAnswer) => [answer.status, answer.json()];

describe.each(HOSTS)("roles, clock and steps on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  let shop: Recorder;
  let stop: ItemsAndShop["stop"];

  beforeAll(async () => {
    const failing = { code: "out_of_stock", message: "nothing left", retryable: false, applied: "no", hint: "wait" };
    ({ gateway, items, shop, stop } = await startItemsAndShop(start, {
      settings: { GATEWAY_TOOL_CALL_TIMEOUT_S: "1" },
      gatewayUrl: (deployment) => `http://edge.test/d/${deployment}`,
      items: {
        tools: [
          [
            { name: "items_add", description: "Add an item." },
            ({ args }) => ({ ...text(`added ${args["title"]}`), isError: false, structuredContent: null }),
          ],
          [{ name: "items_secret", _meta: { "agentenv.io/hiddenByDefault": true } }, () => text("secret")],
          [
            { name: "items_fail" },
            () => ({
              content: [{ type: "text", text: "out_of_stock: nothing left", annotations: null }],
              structuredContent: failing,
              isError: true,
            }),
          ],
          [{ name: "items_gone" }, () => new Promise(() => undefined)],
          [{ name: "who_am_i" }, ({ meta }) => text(meta)],
        ],
      },
    }));
  });
  afterAll(() => stop());
  afterEach(async () => {
    await post(gateway, "/tools/enable", { role: "*", tools: "*" });
    await post(gateway, "/clock/clear", "");
  });

  const step = (body: unknown, role?: string) => post(gateway, "/step", body, role === undefined ? {} : { "AgentEnv-Role": role });
  const call = (tool_name: string, args: object = {}, role?: string) => step({ action: "call_tool", tool_name, arguments: args }, role);
  const rule = (verb: "disable" | "enable", role: unknown, tools: unknown) => post(gateway, `/tools/${verb}`, { role, tools });
  const put = (path: string, body: unknown) =>
    raw(gateway, path, {
      method: "PUT",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  const setTime = (virtual_time: unknown, rate?: unknown) =>
    put("/clock/set-time", { virtual_time, virtual_seconds_per_real_second: rate });
  const listed = async (role?: string) => {
    const { tools } = (await step({ action: "list_tools" }, role)).json() as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  };
  const all = ["list_website_urls", "items_add", "items_fail", "items_gone", "who_am_i"];

  describe("G1 /step", () => {
    test("F29 arguments arrive as they were sent, long and far numbers too", async () => {
      const numbers = '{"title":"n","order":12345678901234567890,"far":1e400}';
      const body = `{"action":"call_tool","tool_name":"items_add","arguments":${numbers}}`;
      expect(told(await post(gateway, "/step", body))).toMatchObject([200, { isError: false }]);
      expect(items.received.at(-1)?.body.toString()).toContain(`"arguments":${numbers}`);
    });

    test.each(["/step", "/triggers/register", "/tools/disable"])("JSON at %s that nests too deep is refused", async (path) => {
      const deep = `{"action":"call_tool","tool_name":"items_add","arguments":${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}}`;
      const { status, text } = await post(gateway, path, deep);
      expect([status, text]).toEqual([400, expect.stringContaining('"error":"the body is JSON that nests deeper than 128"')]);
    });

    test("lists what the role sees, each tool with a description and parameters", async () => {
      const answer = await step({ action: "list_tools" });
      const { tools } = answer.json() as { tools: unknown[] };
      expect([answer.status, tools.slice(0, 3)]).toEqual([
        200,
        [
          {
            name: "list_website_urls",
            description: "List available website URLs that can be browsed.",
            parameters: { type: "object", properties: {} },
          },
          { name: "items_add", description: "Add an item.", parameters: { type: "object" } },
          { name: "items_fail", description: "", parameters: { type: "object" } },
        ],
      ]);
      expect(await listed()).toEqual(all);
    });

    test("calls a tool: its result without nulls, and the changelog's id", async () => {
      expect(told(await call("items_add", { title: "x" }))).toEqual([
        200,
        { content: [{ type: "text", text: "added x" }], isError: false, changelog_id: null },
      ]);
    });

    test("V14 a tool that fails is 200, with all five fields", async () => {
      const structuredContent = { code: "out_of_stock", message: "nothing left", retryable: false, applied: "no", hint: "wait" };
      expect(told(await call("items_fail"))).toEqual([
        200,
        { content: [{ type: "text", text: "out_of_stock: nothing left" }], structuredContent, isError: true, changelog_id: null },
      ]);
    });

    test("V26 the server sees the caller's role, and no session", async () => {
      const { content } = (await call("who_am_i", {}, "bob")).json() as { content: { text: string }[] };
      expect(JSON.parse(content[0]?.text ?? "")).toEqual({ "agentenv.io/role": "bob" });
    });

    test("a gateway-owned tool's result is one text with its JSON", async () => {
      expect(told(await call("list_website_urls"))).toEqual([
        200,
        { content: [{ type: "text", text: '["http://shop-website-frontend/"]' }], isError: false, changelog_id: null },
      ]);
    });

    test("V23 what is wrong with a request is said in its order", async () => {
      const refused: [unknown, number, string][] = [
        ["{bad", 400, "Invalid JSON body"],
        ["", 400, "Invalid JSON body"],
        [[1], 400, "body must be a JSON object"],
        [{ action: "x" }, 400, 'Unknown action: "x". Expected "list_tools" or "call_tool".'],
        [{}, 400, 'Unknown action: null. Expected "list_tools" or "call_tool".'],
        [{ action: "call_tool" }, 400, "Missing or invalid 'tool_name' field"],
        [{ action: "call_tool", tool_name: 5 }, 400, "Missing or invalid 'tool_name' field"],
        [{ action: "call_tool", tool_name: "who_am_i", arguments: [1] }, 400, "'arguments' must be a JSON object"],
        [{ action: "call_tool", tool_name: "who_am_i", arguments: null }, 400, "'arguments' must be a JSON object"],
        [{ action: "call_tool", tool_name: "nope" }, 404, "Unknown tool: nope"],
        [{ action: "call_tool", tool_name: "items_secret" }, 403, "Tool 'items_secret' is disabled for role 'default'"],
      ];
      for (const [body, status, error] of refused) expect(told(await step(body))).toEqual([status, { error }]);
      const wrong = await raw(gateway, "/step");
      expect([wrong.status, wrong.header("allow")]).toEqual([405, "POST"]);
    });

    test("a call that takes too long is 504", async () => {
      expect(told(await call("items_gone"))).toEqual([504, { error: "Tool 'items_gone' timed out after 1s" }]);
    });
  });

  describe("G4 role rules", () => {
    test("answer with the role's own rules, sorted", async () => {
      expect(told(await rule("disable", "alice", ["items_gone", "items_add"]))).toEqual([
        200,
        { role: "alice", disabled: ["items_add", "items_gone"], allowed: [] },
      ]);
      expect(told(await rule("enable", "alice", ["items_gone"]))).toEqual([
        200,
        { role: "alice", disabled: ["items_add"], allowed: ["items_gone"] },
      ]);
      const { roles } = (await raw(gateway, "/state")).json() as { roles: Record<string, unknown> };
      expect(roles["alice"]).toEqual({ disabled: ["items_add"], allowed: ["items_gone"] });
    });

    test("V27 everything disabled, one tool enabled for a role: it sees that one, others none", async () => {
      await rule("disable", "*", "*");
      await rule("enable", "alice", ["items_add"]);
      expect([await listed("alice"), await listed("bob")]).toEqual([["items_add"], []]);
    });

    test("V28 a role's rule for all tools and everybody's for one: the later one counts for a role", async () => {
      await rule("disable", "*", ["items_add"]);
      await rule("enable", "alice", "*");
      expect(await listed("alice")).toEqual(all);
      await rule("disable", "*", ["items_add"]);
      expect(await listed("alice")).toEqual(all.filter((name) => name !== "items_add"));
    });

    test("V29 a hidden tool is shown to the role that was given it by name, alone", async () => {
      await rule("enable", "*", "*");
      expect(await listed("alice")).not.toContain("items_secret");
      await rule("enable", "alice", "*");
      expect(await listed("alice")).not.toContain("items_secret");
      await rule("enable", "alice", ["items_secret"]);
      expect(await listed("alice")).toContain("items_secret");
      expect(((await call("items_secret", {}, "alice")).json() as { content: { text: string }[] }).content[0]?.text).toBe("secret");
      await rule("disable", "alice", "*");
      expect(await listed("alice")).toEqual([]);
    });

    test("hold over /step and /mcp alike, and clients with a stream are told", async () => {
      const client = await connected(gateway, "alice");
      let isTold = false;
      client.fallbackNotificationHandler = async ({ method }) => {
        isTold ||= method === "notifications/tools/list_changed";
      };
      let round = 0;
      // the client's stream may not be open yet at the first change
      await until("the client is told", 5_000, async () => {
        await rule(round++ % 2 === 0 ? "disable" : "enable", "alice", ["items_add"]);
        return isTold;
      });
      await rule("disable", "alice", ["items_add"]);
      expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("items_add");
      expect(said(await client.callTool({ name: "items_add", arguments: {} }))).toBe("Tool 'items_add' is disabled for role 'alice'");
      expect(told(await call("items_add", {}, "alice"))).toEqual([403, { error: "Tool 'items_add' is disabled for role 'alice'" }]);
      await client.close();
    });

    test("what isn't one is refused", async () => {
      const refused: [unknown, string][] = [
        ["{", "Invalid JSON body"],
        [[], "body must be a JSON object"],
        [{ tools: "*" }, "Missing or invalid 'role' field"],
        [{ role: "", tools: "*" }, "Missing or invalid 'role' field"],
        [{ role: 1, tools: "*" }, "Missing or invalid 'role' field"],
        [{ role: "a", tools: "items_add" }, "'tools' must be a list of strings or the string '*'"],
        [{ role: "a" }, "'tools' must be a list of strings or the string '*'"],
        [{ role: "a", tools: ["x", 1] }, "'tools' must be a list of strings or the string '*'"],
      ];
      for (const [body, error] of refused) expect(told(await post(gateway, "/tools/disable", body))).toEqual([400, { error }]);
      expect((await raw(gateway, "/tools/disable")).status).toBe(405);
    });
  });

  describe("G1 the clock", () => {
    test("V47 is armed, read, and cleared", async () => {
      expect(told(await raw(gateway, "/clock/state"))).toEqual([200, { armed: false }]);
      expect(told(await raw(gateway, "/clock/time"))).toEqual([404, { ok: false, error: "clock not armed" }]);
      const shown = {
        armed: true,
        t0: "2030-01-02T01:04:05.250000Z",
        virtual_seconds_per_real_second: 0,
        virtual_time: "2030-01-02T01:04:05.250000Z",
      };
      expect(told(await setTime("2030-01-02 03:04:05.250+02:00", 0))).toEqual([200, shown]);
      expect(told(await raw(gateway, "/clock/time"))).toEqual([200, { virtual_time: shown.virtual_time }]);
      expect(told(await post(gateway, "/clock/clear", ""))).toEqual([200, { ok: true, armed: false }]);
      expect(told(await post(gateway, "/clock/clear", ""))).toEqual([200, { ok: true, armed: false }]);
      expect(told(await setTime("2030-01-02t03:04:05z", null))).toMatchObject([200, { virtual_seconds_per_real_second: 1 }]);
      const head = await raw(gateway, "/clock/time", { method: "HEAD" });
      expect([head.status, head.text]).toEqual([200, ""]);
    });

    test("runs at its rate", async () => {
      await setTime("2030-01-01T00:00:00Z", 86_400);
      await until("a virtual hour has gone by", 5_000, async () => {
        const { virtual_time } = (await raw(gateway, "/clock/time")).json() as { virtual_time: string };
        return virtual_time > "2030-01-01T01:00:00Z" && virtual_time < "2030-01-08";
      });
    });

    test("V47 what it can't be set to is refused, and changes nothing", async () => {
      await setTime("2026-01-01T00:00:00Z", 0);
      const wrong = 'invalid RFC 3339 virtual_time "2026-01-01T00:00Z": expected YYYY-MM-DDThh:mm:ss[.fff](Z|+hh:mm)';
      expect(told(await setTime("2026-01-01T00:00Z"))).toEqual([400, { ok: false, error: wrong }]);
      const tooFast = "rate Infinity is above 86400 (a real second would be more than a virtual day)";
      const far = '{"virtual_time":"2026-01-01T00:00:00Z","virtual_seconds_per_real_second":1e999}';
      expect(told(await put("/clock/set-time", far))).toEqual([400, { ok: false, error: tooFast }]);
      expect(told(await setTime("2026-01-01T00:00:00Z", -1))).toEqual([400, { ok: false, error: "rate must not be negative" }]);
      expect(told(await put("/clock/set-time", "{"))).toEqual([400, { ok: false, error: "Invalid JSON body" }]);
      expect(told(await put("/clock/set-time", []))).toEqual([400, { ok: false, error: "body must be a JSON object" }]);
      expect(told(await raw(gateway, "/clock/time"))).toEqual([200, { virtual_time: "2026-01-01T00:00:00Z" }]);
      const posted = await post(gateway, "/clock/set-time", {});
      expect([posted.status, posted.header("allow")]).toEqual([405, "PUT"]);
    });

    test("servers are told where to read it", async () => {
      await setTime("2030-01-01T00:00:00Z", 0);
      const { env_get_time_url } = (await raw(gateway, "/clock/state")).json() as { env_get_time_url: string };
      const own = gateway.prefix === "" ? gateway.base : `http://edge.test${gateway.prefix}`;
      expect(env_get_time_url).toBe(`${own}/clock/time`);
    });

    test("V49 the tool get_time is there while it is armed, and is no clash", async () => {
      await setTime("2030-01-02T03:04:05.9Z", 0);
      expect(await listed()).toEqual(["list_website_urls", "get_time", ...all.slice(1)]);
      const content = async (args: object) => {
        const { content, isError } = (await call("get_time", args)).json() as { content: { text: string }[]; isError: boolean };
        return [isError, content[0]?.text];
      };
      expect(await content({})).toEqual([false, '{"current_time":"2030-01-02T03:04:05Z"}']);
      expect(await content({ x: 1 })).toEqual([false, '{"current_time":"2030-01-02T03:04:05Z"}']);
      const tokyo = '{"current_time":"2030-01-02T03:04:05Z","time_zone":"Asia/Tokyo","local_time":"2030-01-02T12:04:05+09:00"}';
      expect(await content({ time_zone: "Asia/Tokyo" })).toEqual([false, tokyo]);
      const unknown = 'unknown time zone "X/Y": pass an IANA time zone name such as "America/New_York"';
      expect(await content({ time_zone: "X/Y" })).toEqual([true, unknown]);
      const client = await connected(gateway);
      expect(said(await client.callTool({ name: "get_time", arguments: { time_zone: "Asia/Tokyo" } }))).toBe(tokyo);
      await post(gateway, "/clock/clear", "");
      expect(said(await client.callTool({ name: "get_time", arguments: {} }))).toBe("Unknown tool: get_time");
      await client.close();
      expect(told(await call("get_time"))).toEqual([404, { error: "Unknown tool: get_time" }]);
    });

    test("409 where a server has a tool get_time", async () => {
      items.tools.set("get_time", { tool: { name: "get_time", inputSchema: { type: "object" } }, handler: () => text("mine") });
      const own = await start({ record: { name: "demo", servers: [{ name: "items", kind: "mcp", url: items.url }] } });
      const error = 'a server has a tool "get_time", which would tell another time than the clock';
      const answer = await raw(own, "/clock/set-time", { method: "PUT", body: '{"virtual_time":"2030-01-01T00:00:00Z"}' });
      items.tools.delete("get_time");
      await own.stop();
      expect(told(answer)).toEqual([409, { ok: false, error }]);
    });

    test("V48 is told to servers with everything: MCP, /svc and pages; never a client's word for it", async () => {
      const stamps = async () => {
        const forged = { "X-Universe-Now": "1999-01-01T00:00:00Z" };
        items.received.length = 0;
        shop.received.length = 0;
        await post(gateway, "/step", { action: "call_tool", tool_name: "who_am_i" }, forged);
        await raw(gateway, "/svc/mcp-items/x", { headers: forged });
        await post(gateway, "/svc/mcp-items/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "who_am_i" } }, forged);
        await raw(gateway, "/website/shop/", { headers: forged });
        const sent = [...items.received, ...shop.received];
        const values = sent.map(({ headers }) =>
          headers.filter(([name]) => name.toLowerCase() === "x-universe-now").map(([, value]) => value),
        );
        return { count: sent.length, values: [...new Set(values.map((each) => each.join(",")))] };
      };
      await setTime("2030-01-02T03:04:05Z", 0);
      // a Worker's copy of the routing view is at most a second old
      await until("all are told", 3_000, async () => JSON.stringify((await stamps()).values) === '["2030-01-02T03:04:05Z"]');
      expect((await stamps()).count).toBeGreaterThanOrEqual(4);
      await post(gateway, "/clock/clear", "");
      await until("nobody is told any more", 3_000, async () => JSON.stringify((await stamps()).values) === '[""]');
    });
  });
});
