import { afterAll, describe, expect, test } from "vitest";
import { connected, post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS } from "../../fixtures/gateway/hosts.ts";
import { onAdd, slot, told, triggerSuite, write } from "../../fixtures/gateway/triggers.ts";
import { until } from "../../fixtures/until.ts";

afterAll(endHosts);

describe.each(HOSTS)("G1 triggers on the $host host", ({ start }) => {
  const { add, call, isAt, kinds, running, shown, state, trajectory, work } = triggerSuite(start);

  test("without any the state says so; clear takes any body", async () => {
    const none = { config: { watch_roles: [], executor_configured: false, executors: [] }, triggers: [], events: [], events_dropped: 0 };
    expect(told(await raw(running().gateway, "/triggers/state"))).toEqual([200, none]);
    expect(told(await post(running().gateway, "/triggers/clear", "garbage"))).toEqual([200, { ok: true }]);
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
    expect([work.written, work.roles]).toEqual([["echo fire added fire"], [null]]);
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
    expect(work.written).toHaveLength(1);
  });

  test("V52 a barrier holds the provoking answer until the write through another server is done", async () => {
    await add({ id: "b", when: onAdd, barrier: { at: "provoking_call", timeout_seconds: 5 }, actions: [write("first", { as: "npc" })] });
    const client = await connected(running().gateway);
    await client.callTool({ name: "items_add", arguments: { title: "x" } });
    expect([work.written, work.roles]).toEqual([["first"], ["npc"]]);
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
    work.failures = 1;
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
    expect(work.written).toEqual(["watched", "own", "watched"]);
  });

  test("calls that match a repeat trigger in mid-fire line up; others are missed by what fires once", async () => {
    await add({ id: "r", when: { ...onAdd, repeat: true }, actions: [{ type: "tool", tool: "stock_slow" }, write(slot("args.title"))] });
    for (const title of ["a", "b"]) await call("items_add", { title });
    await until("the first is at work", 5_000, () => work.goOn !== null);
    expect(await shown("r")).toMatchObject({ status: "firing", pending: 1 });
    await until("both are done", 5_000, () => {
      work.goOn?.();
      return work.written.length === 2;
    });
    expect(work.written).toEqual(["a", "b"]);
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
    expect([failed?.["error"], work.written]).toEqual([`${slot("args.nope")} has no value`, ["x"]]);
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
    work.written.push("magic");
    await call("items_list");
    expect((await shown("s"))?.status).toBe("armed");
    await call("items_add", { title: "x" });
    await isAt("s", { status: "fired" });
    expect((await call("items_add", { title: "x" }, "bob")).status).toBe(403);
  });

  test("a page's request sets off what was registered for its site: by query, form and JSON", async () => {
    const { gateway, shop } = running();
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
      return work.written.length > 0;
    });
    const before = work.written.length;
    await raw(gateway, "/website/shop/other?q=2");
    await raw(gateway, "/website/shop/order");
    await raw(gateway, "/website/shop/order?q=3");
    const form = "application/x-www-form-urlencoded";
    await raw(gateway, "/website/shop/order?q=0", { method: "POST", headers: { "content-type": form }, body: "q=4&r=1" });
    await raw(gateway, "/website/shop/order", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"q":5}',
    });
    expect(work.written.slice(before)).toEqual(["visited 3", "4", "5"]);
    expect(shop.received.at(-1)?.body.toString()).toBe('{"q":5}');
    const fired = (await trajectory()).filter(({ trigger_id, event_type }) => trigger_id === "p" && event_type === "trigger_fired").at(-1);
    expect(fired?.["provoking_request"]).toEqual({ app: "shop", method: "POST", path: "/order", status: 200 });
    expect((await state()).triggers[0]).toMatchObject({ when: { type: "website", app: "shop", method: "GET", repeat: true } });
  });

  test("an executor is told in words, and what it does meanwhile says why", async () => {
    const { agent } = running();
    work.agentIsDone = false;
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
    work.agentIsDone = true;
    await isAt("nl", { status: "fired" });
    await call("items_add", { title: "z" }, "helper");
    expect((await trajectory()).filter(({ role }) => role === "helper").at(-1)?.["caused_by"]).toBe(undefined);
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
    await until("the slow action is at work", 5_000, () => work.goOn !== null);
    await isAt("waits", { status: "queued" });
    const before = await state();
    await running().gateway.restart();
    await isAt("waits", { status: "fired" });
    expect(work.written).toEqual(["waits"]);
    expect(await shown("cut")).toMatchObject({ status: "armed", failure_count: 1 });
    const { events } = await state();
    expect(events.slice(0, before.events.length)).toEqual(before.events);
    expect(events.find(({ kind }) => kind === "failed")).toMatchObject({
      trigger_id: "cut",
      error: "the gateway was restarted while it ran",
    });
    await post(running().gateway, "/triggers/remove", { ids: ["cut"] });
    await call("items_add", { title: "after" });
    expect(work.written).toEqual(["waits", "armed"]);
  });
});
