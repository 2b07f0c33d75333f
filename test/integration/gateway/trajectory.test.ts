import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messagesIn, openedSession, post, postModern, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, RpcError, text } from "../../fixtures/gateway/mcp-server.ts";
import { type ModernFixture, modernFixture } from "../../fixtures/gateway/modern-server.ts";

afterAll(endHosts);

type Event = Record<string, unknown>;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);

/** The events behind number `after`, without their times. */
async function eventsAfter(gateway: RunningGateway, after: number): Promise<Event[]> {
  const lines = (await raw(gateway, `/trajectory?after=${after}`)).text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { timestamp_utc, ...event } = JSON.parse(line) as Event;
    expect(timestamp_utc).toEqual(TIME);
    return event;
  });
}

const lastEvent = async (gateway: RunningGateway) => (await eventsAfter(gateway, 0)).length;
const callOf = (name: string, args: object = {}) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });

describe.each(HOSTS)("G8 the trajectory on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  let modern: ModernFixture;

  beforeAll(async () => {
    items = await mcpFixture({
      name: "items",
      tools: [
        [{ name: "items_add" }, ({ args }) => text(`added ${args["title"]}`)],
        [{ name: "items_long" }, ({ args }) => text("a😀".repeat(Number(args["size"])))],
        [{ name: "items_refuse" }, () => new RpcError(-32602, "no such thing")],
      ],
    });
    modern = await modernFixture({
      tools: [
        [
          { name: "modern_ask" },
          ({ params }) =>
            params["requestState"] === "s1"
              ? text("thanks")
              : { resultType: "input_required", inputRequests: { q: { method: "elicitation/create", params: {} } }, requestState: "s1" },
        ],
      ],
    });
    const servers = [
      { name: "items", kind: "mcp", url: items.url },
      { name: "modern", kind: "mcp", url: modern.url },
      { name: "shop", kind: "website", url: items.url, frontend_url: items.url },
    ] as const;
    gateway = await start({ restarts: true, record: { name: "demo", servers: [...servers], browse_urls: { shop: "http://shop/" } } });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([items.close(), modern.close()]);
  });

  test("a call over legacy MCP is two events, there before the answer is", async () => {
    const n = await lastEvent(gateway);
    const session = await openedSession(gateway, { headers: { "AgentEnv-Role": "alice" } });
    await post(gateway, "/mcp", callOf("items_add", { title: "pen" }), session);
    expect(await eventsAfter(gateway, n)).toEqual([
      {
        event_type: "tool_call",
        tool_call: { function_name: "items_add", arguments: { title: "pen" } },
        role: "alice",
        event_id: `event_${n + 1}`,
      },
      {
        event_type: "tool_call_result",
        tool_call_event_id: `event_${n + 1}`,
        tool_call_result: { content: [{ type: "text", text: "added pen" }] },
        changelog_id_before: null,
        changelog_id: null,
        event_id: `event_${n + 2}`,
      },
    ]);
  });

  test("a call by /step says so; the universe's time is in it while the clock is armed", async () => {
    const n = await lastEvent(gateway);
    await raw(gateway, "/clock/set-time", {
      method: "PUT",
      body: '{"virtual_time":"2030-01-02T03:04:05Z","virtual_seconds_per_real_second":0}',
    });
    await post(gateway, "/step", { action: "call_tool", tool_name: "items_add", arguments: { title: "x" } });
    await post(gateway, "/clock/clear", "");
    expect(await eventsAfter(gateway, n)).toEqual([
      {
        event_type: "tool_call",
        source: "step_api",
        tool_call: { function_name: "items_add", arguments: { title: "x" } },
        role: "default",
        event_id: `event_${n + 1}`,
        virtual_time: "2030-01-02T03:04:05Z",
      },
      {
        event_type: "tool_call_result",
        source: "step_api",
        tool_call_event_id: `event_${n + 1}`,
        tool_call_result: { content: [{ type: "text", text: "added x" }] },
        changelog_id_before: null,
        changelog_id: null,
        event_id: `event_${n + 2}`,
        virtual_time: "2030-01-02T03:04:05Z",
      },
    ]);
  });

  test("a gateway-owned tool's call is logged like any other", async () => {
    const n = await lastEvent(gateway);
    await postModern(gateway, { method: "tools/call", params: { name: "list_website_urls", arguments: {} } });
    expect(await eventsAfter(gateway, n)).toEqual([
      {
        event_type: "tool_call",
        tool_call: { function_name: "list_website_urls", arguments: {} },
        role: "default",
        event_id: `event_${n + 1}`,
      },
      {
        event_type: "tool_call_result",
        tool_call_event_id: `event_${n + 1}`,
        tool_call_result: {
          content: [{ type: "text", text: "http://shop/" }],
          structuredContent: { result: ["http://shop/"] },
          isError: false,
        },
        changelog_id: null,
        event_id: `event_${n + 2}`,
      },
    ]);
  });

  test("a call for which its caller is asked something is one call, however often it is sent", async () => {
    const n = await lastEvent(gateway);
    const params = { name: "modern_ask", arguments: {} };
    const first = await postModern(gateway, { method: "tools/call", params });
    expect(messagesIn(first)[0]).toMatchObject({ result: { resultType: "input_required", requestState: "s1" } });
    await postModern(gateway, {
      method: "tools/call",
      params: { ...params, requestState: "s1", inputResponses: { q: { action: "accept" } } },
    });
    const events = await eventsAfter(gateway, n);
    expect(events.map(({ event_type, tool_call_event_id }) => [event_type, tool_call_event_id])).toEqual([
      ["tool_call", undefined],
      ["tool_call_result", `event_${n + 1}`],
    ]);
  });

  test("a call that goes nowhere, and one that a server answers with an error, have failed", async () => {
    const n = await lastEvent(gateway);
    await post(gateway, "/tools/disable", { role: "bob", tools: ["items_add"] });
    await post(gateway, "/mcp", callOf("nope"));
    await post(gateway, "/mcp", callOf("items_add"), { "AgentEnv-Role": "bob" });
    await post(gateway, "/mcp", callOf("items_refuse"));
    const failed = (await eventsAfter(gateway, n)).filter(({ event_type }) => event_type === "tool_call_failed");
    expect(failed.map(({ error }) => error)).toEqual([
      "Unknown tool: nope",
      "Tool 'items_add' is disabled for role 'bob'",
      "items: error -32602: no such thing",
    ]);
  });

  test("G8 a result that no row of a database can hold is there whole", async () => {
    const n = await lastEvent(gateway);
    await post(gateway, "/step", { action: "call_tool", tool_name: "items_long", arguments: { size: 1_000_001 } });
    const [, result] = await eventsAfter(gateway, n);
    const whole = said(result?.["tool_call_result"]);
    expect(whole === "a😀".repeat(1_000_001)).toBe(true);
  });

  test("is read from an event on, and so many; its size is told", async () => {
    const all = await raw(gateway, "/trajectory");
    expect([all.status, all.header("content-type")]).toEqual([200, "application/jsonl"]);
    expect(all.header("x-trajectory-total-bytes")).toBe(String(all.body.length));
    const lines = all.text.split("\n");
    expect((await raw(gateway, "/trajectory?after=1&limit=2")).text).toBe(`${lines[1]}\n${lines[2]}\n`);
    expect((await raw(gateway, "/trajectory?after=100000")).text).toBe("");
    const head = await raw(gateway, "/trajectory", { method: "HEAD" });
    expect([head.status, head.text, head.header("x-trajectory-total-bytes")]).toEqual([200, "", String(all.body.length)]);
    for (const query of ["after=x", "after=-1", "limit=0", "limit=1.5"]) {
      const refused = await raw(gateway, `/trajectory?${query}`);
      expect([refused.status, refused.json()]).toEqual([400, { ok: false, error: "after must be an integer >= 0 and limit one >= 1" }]);
    }
    expect((await post(gateway, "/trajectory", "")).status).toBe(405);
  });

  test("V50 nothing of it is lost in a kill, and its ids go on; rules and the clock too", async () => {
    await post(gateway, "/tools/disable", { role: "carol", tools: ["items_add"] });
    await raw(gateway, "/clock/set-time", {
      method: "PUT",
      body: '{"virtual_time":"2030-01-02T03:04:05Z","virtual_seconds_per_real_second":0}',
    });
    const before = await raw(gateway, "/trajectory");
    await gateway.restart();
    expect((await raw(gateway, "/trajectory")).text === before.text).toBe(true);
    const n = before.text.split("\n").length - 1;
    await post(gateway, "/step", { action: "call_tool", tool_name: "items_add", arguments: { title: "y" } });
    expect((await eventsAfter(gateway, n)).map(({ event_id }) => event_id)).toEqual([`event_${n + 1}`, `event_${n + 2}`]);
    expect((await raw(gateway, "/clock/time")).json()).toEqual({ virtual_time: "2030-01-02T03:04:05Z" });
    const { roles } = (await raw(gateway, "/state")).json() as { roles: Record<string, unknown> };
    expect(roles["carol"]).toEqual({ disabled: ["items_add"], allowed: [] });
    await post(gateway, "/clock/clear", "");
  });
});

test("GATEWAY_TRAJECTORY_FILE always holds what /trajectory gives, also after a kill", async () => {
  const folder = await mkdtemp(join(tmpdir(), "agent-env-trajectory-"));
  const file = join(folder, "log", "trajectory.jsonl");
  const items = await mcpFixture({ name: "items", tools: [[{ name: "items_add" }, () => text("added")]] });
  const [node] = HOSTS;
  const gateway = await node?.start({
    settings: { GATEWAY_TRAJECTORY_FILE: file },
    record: { name: "demo", servers: [{ name: "items", kind: "mcp", url: items.url }] },
  });
  if (gateway === undefined) throw new Error("no host");
  const step = () => post(gateway, "/step", { action: "call_tool", tool_name: "items_add" });
  await Promise.all([step(), step(), step()]);
  const written = await readFile(file, "utf8");
  expect(written.split("\n").length).toBe(7);
  expect((await raw(gateway, "/trajectory")).text).toBe(written);
  await gateway.restart();
  await step();
  expect(await readFile(file, "utf8")).toBe((await raw(gateway, "/trajectory")).text);
  await gateway.stop();
  await items.close();
  await rm(folder, { recursive: true, force: true });
});
