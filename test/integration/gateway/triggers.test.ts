import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connected, post, type RawAnswer, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

afterAll(endHosts);

type Shown = {
  id: string;
  status: string;
  fire_count: number;
  failure_count: number;
  pending: number;
  waiting: boolean;
  next_mark: string | null;
};
type Event = { kind: string; trigger_id?: string; [field: string]: unknown };
type State = { config: unknown; triggers: Shown[]; events: Event[]; events_dropped: number };

/** A template: `$`, then the path in braces. */
const slot = (path: string) => `$\{${path}}`;
const told = (answer: RawAnswer) => [answer.status, answer.json()];

describe.each(HOSTS)("G1 triggers on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  let stock: McpFixture;
  let shop: Recorder;
  let agent: Recorder;
  let written: string[] = [];
  let roles: unknown[] = [];
  let failures = 0;
  let goOn: (() => void) | null = null;
  let agentIsDone = true;

  beforeAll(async () => {
    items = await mcpFixture({
      name: "items",
      tools: [
        [
          { name: "items_add" },
          ({ args }) => ({ ...text(`added ${args["title"]}`), structuredContent: { result: `added ${args["title"]}` } }),
        ],
        [{ name: "items_list", annotations: { readOnlyHint: true } }, () => ({ ...text("all"), structuredContent: { result: written } })],
        [{ name: "items_broken" }, () => ({ ...text("no"), isError: true })],
      ],
    });
    stock = await mcpFixture({
      name: "stock",
      tools: [
        [
          { name: "stock_write" },
          ({ args, meta }) => {
            if (failures-- > 0) return { ...text("not now"), isError: true };
            written.push(String(args["title"]));
            roles.push(meta["agentenv.io/role"] ?? null);
            return text(`wrote ${args["title"]}`);
          },
        ],
        [
          { name: "stock_slow" },
          async () => {
            await new Promise<void>((resolve) => {
              goOn = resolve;
            });
            return text("slow");
          },
        ],
      ],
    });
    shop = await recorder();
    agent = await recorder({
      answer: (_request, response, body) => {
        const { id, method } = JSON.parse(body.toString());
        const state = method === "message/send" || !agentIsDone ? "working" : "completed";
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { kind: "task", id: "task-1", status: { state } } }));
      },
    });
    gateway = await start({
      restarts: true,
      record: {
        name: "demo",
        servers: [
          { name: "items", kind: "mcp", url: items.url },
          { name: "stock", kind: "mcp", url: stock.url },
          { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url },
        ],
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([items, stock, shop, agent].map((each) => each.close()));
  });
  afterEach(async () => {
    goOn?.();
    failures = 0;
    await post(gateway, "/triggers/clear", "garbage");
    await post(gateway, "/clock/clear", "");
    await post(gateway, "/tools/enable", { role: "*", tools: "*" });
    [written, roles, goOn, agentIsDone] = [[], [], null, true];
  });

  const register = (triggers: unknown, more: object = {}) => post(gateway, "/triggers/register", { triggers, ...more });
  const add = async (trigger: object, more: object = {}) => expect((await register([trigger], more)).json()).toMatchObject({ ok: true });
  const call = (tool_name: string, args: object = {}, role = "default") =>
    post(gateway, "/step", { action: "call_tool", tool_name, arguments: args }, { "AgentEnv-Role": role });
  const state = async () => (await raw(gateway, "/triggers/state")).json() as State;
  const shown = async (id: string) => (await state()).triggers.find((trigger) => trigger.id === id);
  const isAt = (id: string, wanted: Partial<Shown>) =>
    until(`${id} is ${JSON.stringify(wanted)}`, 10_000, async () => {
      const now = await shown(id);
      return Object.entries(wanted).every(([key, value]) => now?.[key as keyof Shown] === value);
    });
  const kinds = async (id: string) => (await state()).events.filter(({ trigger_id }) => trigger_id === id).map(({ kind }) => kind);
  const trajectory = async () =>
    (await raw(gateway, "/trajectory")).text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const setTime = (virtual_time: string, rate: number) =>
    raw(gateway, "/clock/set-time", { method: "PUT", body: JSON.stringify({ virtual_time, virtual_seconds_per_real_second: rate }) });
  const write = (title: unknown, more: object = {}) => ({ type: "tool", tool: "stock_write", args: { title }, ...more });
  const onAdd = { type: "action", tool: "items_add" };

  test("without any the state says so; clear takes any body", async () => {
    const none = { config: { watch_roles: [], executor_configured: false, executors: [] }, triggers: [], events: [], events_dropped: 0 };
    expect(told(await raw(gateway, "/triggers/state"))).toEqual([200, none]);
    expect(told(await post(gateway, "/triggers/clear", "garbage"))).toEqual([200, { ok: true }]);
  });

  test("a call sets off what was registered for it, with its arguments in templates; state and trajectory tell", async () => {
    const n = (await trajectory()).length;
    await add({
      id: "t1",
      when: { ...onAdd, where: { "args.title": { equals: "fire" } } },
      actions: [write(`echo ${slot("args.title")} ${slot("result.result")}`)],
    });
    await call("items_add", { title: "other" });
    await call("items_add", { title: "fire" });
    await isAt("t1", { status: "fired", fire_count: 1 });
    expect([written, roles]).toEqual([["echo fire added fire"], [null]]);
    const time = expect.stringMatching(/^\d{4}-.*\+00:00$/);
    const { config, triggers, events } = await state();
    expect(config).toEqual({ watch_roles: ["default"], executor_configured: false, executors: [] });
    expect(triggers).toEqual([
      {
        id: "t1",
        type: "action",
        when: { type: "action", tool: "items_add" },
        status: "fired",
        detected_at: time,
        fired_at: time,
        fire_count: 1,
        failure_count: 0,
        last_failure_at: null,
        barrier: null,
        pending: 0,
        waiting: false,
        next_mark: null,
      },
    ]);
    const detail = { tool: "stock_write", args: { title: "echo fire added fire" } };
    expect(events).toEqual([
      { seq: 1, ts: time, kind: "added", trigger_id: "t1" },
      { seq: 2, ts: time, kind: "detected", trigger_id: "t1", provoking: { tool: "items_add", role: "default" } },
      {
        seq: 3,
        ts: time,
        kind: "action_ok",
        trigger_id: "t1",
        action_index: 0,
        detail,
        changelog_id_before: null,
        changelog_id_after: null,
      },
      { seq: 4, ts: time, kind: "fired", trigger_id: "t1", fire_count: 1 },
    ]);
    const logged = (await trajectory()).slice(n).filter(({ source }) => source === "trigger_engine");
    expect(logged.map(({ event_id, timestamp_utc, ...event }) => event)).toEqual([
      { event_type: "trigger_fired", source: "trigger_engine", trigger_id: "t1", provoking_tool: "items_add" },
      {
        event_type: "internal_tool_call",
        source: "trigger_engine",
        trigger_id: "t1",
        action_index: 0,
        tool: "stock_write",
        arguments: { title: "echo fire added fire" },
        as: null,
        ok: true,
        result_len: 26,
        result_sha256: expect.stringMatching(/^[0-9a-f]{16}$/),
        changelog_id_before: null,
        changelog_id_after: null,
      },
    ]);
    await call("items_add", { title: "fire" });
    expect(written).toHaveLength(1);
  });

  test("V52 a barrier holds the provoking answer until the write through another server is done", async () => {
    await add({ id: "b", when: onAdd, barrier: { at: "provoking_call", timeout_seconds: 5 }, actions: [write("first", { as: "npc" })] });
    const client = await connected(gateway);
    await client.callTool({ name: "items_add", arguments: { title: "x" } });
    expect([written, roles]).toEqual([["first"], ["npc"]]);
    expect(
      (await trajectory()).filter(({ trigger_id, event_type }) => trigger_id === "b" && event_type === "internal_tool_call"),
    ).toHaveLength(1);
    await client.close();
  });

  test("a barrier that waits too long lets the answer go, and the trajectory says so", async () => {
    await add({
      id: "slow",
      when: onAdd,
      barrier: { at: "provoking_call", timeout_seconds: 0.2 },
      actions: [{ type: "tool", tool: "stock_slow" }],
    });
    await call("items_add", { title: "x" });
    expect((await shown("slow"))?.status).toBe("firing");
    const last = (await trajectory()).filter(({ event_type }) => event_type === "trigger_barrier_timeout").at(-1);
    expect(last).toMatchObject({ source: "trigger_engine", at: "provoking_call", trigger_ids: ["slow"], timeout_s: 0.2 });
  });

  test("V53 an action that fails once is tried at the next call", async () => {
    failures = 1;
    await add({ id: "f", when: onAdd, barrier: { at: "provoking_call" }, actions: [write("x")] });
    await call("items_add", { title: "1" });
    expect(await shown("f")).toMatchObject({ status: "armed", failure_count: 1, fire_count: 0 });
    await call("items_add", { title: "2" });
    expect(await shown("f")).toMatchObject({ status: "fired", failure_count: 1, fire_count: 1 });
    expect(await kinds("f")).toEqual(["added", "detected", "action_failed", "failed", "detected", "action_ok", "fired"]);
  });

  test("only roles that may provoke do; triggers' own calls and failed calls provoke nothing", async () => {
    const barrier = { at: "provoking_call" };
    await add(
      { id: "watched", when: { ...onAdd, repeat: true }, barrier, actions: [write("watched")] },
      { watch_roles: ["default", "bob"] },
    );
    await add({ id: "own", when: { ...onAdd, repeat: true, roles: ["alice"] }, barrier, actions: [write("own")] });
    await add({ id: "chain", when: { type: "action", tool: "stock_write", repeat: true }, barrier, actions: [write("chain")] });
    await add({ id: "error", when: { type: "action", tool: "items_broken" }, barrier, actions: [write("error")] });
    for (const role of ["default", "alice", "bob", "carol"]) await call("items_add", { title: "x" }, role);
    await call("items_broken");
    expect(written).toEqual(["watched", "own", "watched"]);
  });

  test("calls that match a repeat trigger in mid-fire line up; others are missed by what fires once", async () => {
    await add({ id: "r", when: { ...onAdd, repeat: true }, actions: [{ type: "tool", tool: "stock_slow" }, write(slot("args.title"))] });
    for (const title of ["a", "b"]) await call("items_add", { title });
    await until("the first is at work", 5_000, () => goOn !== null);
    expect(await shown("r")).toMatchObject({ status: "firing", pending: 1 });
    await until("both are done", 5_000, () => {
      goOn?.();
      return written.length === 2;
    });
    expect(written).toEqual(["a", "b"]);
    await isAt("r", { status: "armed", fire_count: 2 });
  });

  test("a template without a value fails the action; an optional one drops its key", async () => {
    const barrier = { at: "provoking_call" };
    await add({ id: "needs", when: onAdd, barrier, actions: [write(slot("args.nope"))] });
    await add({
      id: "may",
      when: onAdd,
      barrier,
      actions: [{ type: "tool", tool: "stock_write", args: { title: "x", more: slot("args.nope?") } }],
    });
    await call("items_add", { title: "1" });
    const failed = (await state()).events.find(({ kind, trigger_id }) => kind === "failed" && trigger_id === "needs");
    expect([failed?.["error"], written]).toEqual([`${slot("args.nope")} has no value`, ["x"]]);
  });

  test("a state trigger looks after calls that may have changed something, and gives a tool to a role", async () => {
    const check = { tool: "items_list", extract: "result", predicate: { regex: "magic" } };
    await add({
      id: "s",
      when: { type: "state", check },
      actions: [{ type: "permission", action: "disable", role: "bob", tools: ["items_add"] }],
    });
    await call("items_add", { title: "x" });
    expect((await shown("s"))?.status).toBe("armed");
    written.push("magic");
    await call("items_list");
    expect((await shown("s"))?.status).toBe("armed");
    await call("items_add", { title: "x" });
    await isAt("s", { status: "fired" });
    expect((await call("items_add", { title: "x" }, "bob")).status).toBe(403);
  });

  test("a time trigger fires at its marks, so often as it says", async () => {
    await setTime("2030-01-01T00:00:00Z", 60);
    await add({ id: "tm", when: { type: "time", every: "PT1M", count: 2 }, actions: [write("tick")] });
    expect((await shown("tm"))?.next_mark).toBe("2030-01-01T00:01:00Z");
    await isAt("tm", { status: "fired", fire_count: 2, next_mark: null });
    expect(written).toEqual(["tick", "tick"]);
    const fired = (await state()).events.filter(({ kind }) => kind === "fired").map(({ mark }) => mark);
    expect(fired).toEqual(["2030-01-01T00:01:00Z", "2030-01-01T00:02:00Z"]);
  });

  test("V54 a deadline is cancelled by the call in time, with what waits for it; else it fires, and they go on", async () => {
    await setTime("2030-01-01T00:00:00Z", 3_600);
    const unless = { tool: "items_add", where: { title: { equals: "done" } } };
    await add({ id: "met", when: { type: "time", at: "PT10H", unless }, actions: [write("met")] });
    await add({ id: "then", when: { type: "time", after: "met", offset: "PT1M" }, actions: [write("then")] });
    await add({ id: "missed", when: { type: "time", at: "PT1H", unless: { tool: "items_broken" } }, actions: [write("missed")] });
    await add({ id: "later", when: { type: "time", after: "missed", offset: "PT1H" }, actions: [write("later")] });
    await call("items_add", { title: "not yet" });
    expect((await shown("met"))?.status).toBe("armed");
    await call("items_add", { title: "done" });
    expect([(await shown("met"))?.status, (await shown("then"))?.status]).toEqual(["cancelled", "cancelled"]);
    await isAt("later", { status: "fired" });
    expect(written).toEqual(["missed", "later"]);
    expect(await kinds("later")).toEqual(["added", "anchored", "detected", "action_ok", "fired"]);
  });

  test("a delayed action waits; one whose trigger is removed meanwhile isn't done", async () => {
    await add({ id: "d", when: onAdd, actions: [write("late", { delay: "PT1.5S" })] });
    await add({ id: "gone", when: onAdd, actions: [write("never", { delay: "PT1.5S" })] });
    await call("items_add", { title: "x" });
    await isAt("d", { status: "queued", waiting: true });
    expect(told(await post(gateway, "/triggers/remove", { ids: ["gone", "nope"] }))).toEqual([200, { ok: true, removed: ["gone"] }]);
    await isAt("d", { status: "fired" });
    expect([written, await kinds("d")]).toEqual([["late"], ["added", "detected", "delayed", "action_ok", "fired"]]);
  });

  test("a page's request sets off what was registered for its site: by query, form and JSON", async () => {
    const when = { type: "website", app: "shop", path: { regex: "^/order" }, where: { "args.q": { exists: true } }, repeat: true };
    await add({
      id: "w",
      when: { ...when, method: "get" },
      barrier: { at: "provoking_call" },
      actions: [write(`visited ${slot("args.q")}`)],
    });
    await add({ id: "p", when: { ...when, method: "POST" }, barrier: { at: "provoking_call" }, actions: [write(slot("args.q"))] });
    // a Worker's copy of the routing view is at most a second old
    await until("the site is watched", 3_000, async () => {
      await raw(gateway, "/website/shop/order?q=1");
      return written.length > 0;
    });
    const before = written.length;
    await raw(gateway, "/website/shop/other?q=2");
    await raw(gateway, "/website/shop/order");
    await raw(gateway, "/website/shop/order?q=3");
    const form = "application/x-www-form-urlencoded";
    await raw(gateway, "/website/shop/order?q=0", { method: "POST", headers: { "content-type": form }, body: "q=4&r=1" });
    await raw(gateway, "/website/shop/order", { method: "POST", headers: { "content-type": "application/json" }, body: '{"q":5}' });
    expect(written.slice(before)).toEqual(["visited 3", "4", "5"]);
    expect(shop.received.at(-1)?.body.toString()).toBe('{"q":5}');
    const fired = (await trajectory()).filter(({ trigger_id, event_type }) => trigger_id === "p" && event_type === "trigger_fired").at(-1);
    expect(fired?.["provoking_request"]).toEqual({ app: "shop", method: "POST", path: "/order", status: 200 });
    expect((await state()).triggers[0]).toMatchObject({ when: { type: "website", app: "shop", method: "GET", repeat: true } });
  });

  test("an executor is told in words, and what it does meanwhile says why", async () => {
    agentIsDone = false;
    const executor = { a2a_url: agent.url, role: "helper", timeout_seconds: 30 };
    await add({ id: "nl", when: onAdd, actions: [{ type: "nl", instruction: "Restock tea." }] }, { executor });
    await call("items_add", { title: "x" });
    await until("the executor is asked", 5_000, () => agent.received.length > 0);
    const sent = JSON.parse(agent.received[0]?.body.toString() ?? "");
    expect([agent.received[0]?.target, sent.method, sent.params.message.contextId, sent.params.message.parts]).toEqual([
      "/a2a",
      "message/send",
      "trigger-nl",
      [{ kind: "text", text: "Restock tea." }],
    ]);
    await call("items_add", { title: "y" }, "helper");
    const logged = (await trajectory()).filter(({ role }) => role === "helper");
    expect(logged.at(-1)?.["caused_by"]).toEqual([{ trigger_id: "nl", action_index: 0, fire: expect.any(Number) }]);
    agentIsDone = true;
    await isAt("nl", { status: "fired" });
    await call("items_add", { title: "z" }, "helper");
    expect((await trajectory()).filter(({ role }) => role === "helper").at(-1)?.["caused_by"]).toBe(undefined);
  });

  test("V51 all or nothing: one bad trigger of two, the same again, the same id with other content", async () => {
    const good = { id: "t1", when: onAdd, actions: [write("x")] };
    const bad = { id: "t2", when: { type: "action", tool: "nope" }, actions: [] };
    expect(told(await register([good, bad]))).toEqual([400, { ok: false, error: 'trigger "t2": when.tool names unknown tool "nope"' }]);
    expect((await state()).triggers).toEqual([]);
    expect(told(await register([good]))).toEqual([200, { ok: true, added: ["t1"], all: ["t1"] }]);
    expect(told(await register([good]))).toEqual([200, { ok: true, added: ["t1"], all: ["t1"] }]);
    expect(told(await register([{ ...good, actions: [] }]))).toEqual([
      400,
      { ok: false, error: 'trigger "t1": already registered with another content: remove it first, or use a new id' },
    ]);
    const anonymous = (await register([{ when: onAdd, actions: [] }])).json() as { added: string[] };
    expect(anonymous.added).toEqual([expect.stringMatching(/^trg_[0-9a-f]{12}$/)]);
  });

  test("what is no trigger is refused, with where and why", async () => {
    const one = (when: unknown, actions: unknown = [], more: object = {}) => ({ triggers: [{ id: "t", when, actions, ...more }] });
    const executor = { a2a_url: agent.url, role: "helper" };
    const refused: [unknown, string][] = [
      ["{", "Invalid JSON body"],
      [[], "body must be a JSON object"],
      [{}, "triggers must be a list"],
      [{ triggers: "x" }, "triggers must be a list"],
      [one({ type: "zzz" }), 'trigger "t": when.type: type must be action, website, state or time'],
      [
        one({ ...onAdd, where: { title: { equals: 1, regex: "x" } } }),
        'trigger "t": when.where.title: a predicate must have exactly one of regex, equals, exists',
      ],
      [
        one({ ...onAdd, where: { title: { regex: "(?=x)" } } }),
        'trigger "t": when.where.title: regex "(?=x)" can\'t be read: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
      ],
      [one({ type: "website", app: "zz" }), 'trigger "t": when.app names unknown website "zz" (websites: ["shop"])'],
      [
        one({ type: "website", app: "shop", where: { "result.x": { exists: true } } }),
        'trigger "t": when.where["result.x"]: reads a result; a website\'s request has arguments alone',
      ],
      [one({ type: "time" }), 'trigger "t": when: needs at, after with offset, or every'],
      [one({ type: "time", after: "x", offset: "PT1S" }), 'trigger "t": when.after names unknown trigger "x"'],
      [one({ type: "time", every: "PT0S" }), 'trigger "t": when.every: must be a positive ISO 8601 duration'],
      [one(onAdd, [{ type: "tool", tool: "nope" }]), 'trigger "t": actions[0].tool names unknown tool "nope"'],
      [one(onAdd, [write("x", { as: "default" })]), 'trigger "t": actions[0].as: must be a literal role other than default'],
      [
        one(onAdd, [write(slot("nope.x"))]),
        `trigger "t": actions[0].args: ${slot("nope.x")} is no template here: it may begin with args, result`,
      ],
      [one(onAdd, [{ type: "nl", instruction: "do" }]), 'trigger "t": actions[0]: needs an executor, which isn\'t registered'],
      [one(onAdd, [{ type: "nl", instruction: slot("args.x") }]), 'trigger "t": actions[0].instruction: is never templated'],
      [
        one({ ...onAdd, roles: ["helper"] }, [{ type: "nl", instruction: "do" }]),
        'trigger "t": actions[0]: needs an executor, which isn\'t registered',
      ],
      [
        { ...one({ ...onAdd, roles: ["helper"] }, [{ type: "nl", instruction: "do" }]), executor },
        'trigger "t": actions[0]: goes to role "helper", which provokes this trigger',
      ],
      [{ triggers: [], executor, watch_roles: ["helper"] }, 'role "helper" is an executor\'s and watched'],
      [
        one({ type: "time", at: "PT1S" }, [], { barrier: { at: "provoking_call" } }),
        'trigger "t": barrier: only action and website triggers can hold back an answer',
      ],
      [
        one(onAdd, [write("x", { delay: "PT1S" })], { barrier: { at: "provoking_call" } }),
        'trigger "t": barrier: doesn\'t go with a delay',
      ],
    ];
    for (const [body, error] of refused) expect(told(await post(gateway, "/triggers/register", body))).toEqual([400, { ok: false, error }]);
    await add({ id: "t", when: onAdd, actions: [] });
    const conflict = "watch_roles is already registered otherwise: clear the triggers to change it";
    expect(told(await register([], { watch_roles: ["x"] }))).toEqual([400, { ok: false, error: conflict }]);
    for (const body of [{ ids: "t" }, {}, { ids: [1] }])
      expect(told(await post(gateway, "/triggers/remove", body))).toEqual([
        400,
        { ok: false, error: "ids must be a list of non-empty strings" },
      ]);
  });

  test("V50 triggers, what they wait for and their events go on after a kill; a fire that it cut off has failed", async () => {
    await add({ id: "cut", when: onAdd, actions: [{ type: "tool", tool: "stock_slow" }, write("cut")] });
    await add({ id: "waits", when: onAdd, actions: [write("waits", { delay: "PT2S" })] });
    await add({
      id: "armed",
      when: { ...onAdd, where: { title: { equals: "after" } } },
      barrier: { at: "provoking_call" },
      actions: [write("armed")],
    });
    await call("items_add", { title: "x" });
    await until("the slow action is at work", 5_000, () => goOn !== null);
    await isAt("waits", { status: "queued" });
    const before = await state();
    await gateway.restart();
    await isAt("waits", { status: "fired" });
    expect(written).toEqual(["waits"]);
    expect(await shown("cut")).toMatchObject({ status: "armed", failure_count: 1 });
    const { events } = await state();
    expect(events.slice(0, before.events.length)).toEqual(before.events);
    expect(events.find(({ kind }) => kind === "failed")).toMatchObject({
      trigger_id: "cut",
      error: "the gateway was restarted while it ran",
    });
    await post(gateway, "/triggers/remove", { ids: ["cut"] });
    await call("items_add", { title: "after" });
    expect(written).toEqual(["waits", "armed"]);
  });
});
