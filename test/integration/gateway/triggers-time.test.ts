import { afterAll, describe, expect, test } from "vitest";
import { post } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS } from "../../fixtures/gateway/hosts.ts";
import { onAdd, told, triggerSuite, write } from "../../fixtures/gateway/triggers.ts";

afterAll(endHosts);

describe.each(HOSTS)("G1 triggers on the $host host", ({ start }) => {
  const { add, call, isAt, kinds, running, setTime, shown, state, work } = triggerSuite(start);

  test("a time trigger fires at its marks, so often as it says", async () => {
    await setTime("2030-01-01T00:00:00Z", 60);
    await add({ id: "tm", when: { type: "time", every: "PT1M", count: 2 }, actions: [write("tick")] });
    expect((await shown("tm"))?.next_mark).toBe("2030-01-01T00:01:00Z");
    await isAt("tm", { status: "fired", fire_count: 2, next_mark: null });
    expect(work.written).toEqual(["tick", "tick"]);
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
    expect(work.written).toEqual(["missed", "later"]);
    expect(await kinds("later")).toEqual(["added", "anchored", "detected", "action_ok", "fired"]);
  });

  test("a delayed action waits; one whose trigger is removed meanwhile isn't done", async () => {
    await add({ id: "d", when: onAdd, actions: [write("late", { delay: "PT1.5S" })] });
    await add({ id: "gone", when: onAdd, actions: [write("never", { delay: "PT1.5S" })] });
    await call("items_add", { title: "x" });
    await isAt("d", { status: "queued", waiting: true });
    expect(told(await post(running().gateway, "/triggers/remove", { ids: ["gone", "nope"] }))).toEqual([
      200,
      { ok: true, removed: ["gone"] },
    ]);
    await isAt("d", { status: "fired" });
    expect([work.written, await kinds("d")]).toEqual([["late"], ["added", "detected", "delayed", "action_ok", "fired"]]);
  });
});
