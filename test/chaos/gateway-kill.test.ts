import { afterAll, describe, expect, test } from "vitest";
import { post, raw } from "../fixtures/gateway/client.ts";
import { endHosts, HOSTS } from "../fixtures/gateway/hosts.ts";
import { mcpFixture, text } from "../fixtures/gateway/mcp-server.ts";
import { until } from "../fixtures/until.ts";

afterAll(endHosts);

const ROUNDS = 3;
const CALLERS = 8;
const CALLS_BEFORE_THE_KILL = 60;

type Event = { event_type: string; event_id: string; tool_call_event_id?: string; tool_call?: { arguments: { id: string } } };

describe.each(HOSTS)("a gateway that is killed under load on the $host host", ({ start }) => {
  test("G8 V50 loses no answered call, no rule, no trigger, and not the time", async () => {
    const items = await mcpFixture({ name: "items", tools: [[{ name: "items_add" }, ({ args }) => text(args["id"])]] });
    const gateway = await start({ restarts: true, record: { name: "demo", servers: [{ name: "items", kind: "mcp", url: items.url }] } });
    const answered = new Set<string>();
    const virtual_time = "2030-01-02T03:04:05Z";
    await raw(gateway, "/clock/set-time", { method: "PUT", body: JSON.stringify({ virtual_time, virtual_seconds_per_real_second: 0 }) });
    await post(gateway, "/triggers/register", { triggers: [{ id: "t", when: { type: "time", at: "2040-01-01T00:00:00Z" }, actions: [] }] });

    for (let round = 1; round <= ROUNDS; round++) {
      await post(gateway, "/tools/disable", { role: `role-${round}`, tools: ["items_add"] });
      let isKilled = false;
      const callUntilKilled = async (caller: number): Promise<void> => {
        for (let n = 0; !isKilled; n++) {
          const id = `${round}-${caller}-${n}`;
          try {
            const answer = await post(gateway, "/step", { action: "call_tool", tool_name: "items_add", arguments: { id } });
            if (answer.status === 200) answered.add(id);
          } catch (error) {
            // the kill itself: a call that it cut off was not answered
            if (!isKilled) throw error;
          }
        }
      };
      const before = answered.size;
      const callers = Array.from({ length: CALLERS }, (_, caller) => callUntilKilled(caller));
      await until("there is load", 30_000, () => answered.size >= before + CALLS_BEFORE_THE_KILL);
      isKilled = true;
      await gateway.restart();
      await Promise.all(callers);

      const lines = (await raw(gateway, "/trajectory")).text.split("\n").filter((line) => line !== "");
      const events = lines.map((line): Event => JSON.parse(line));
      const called = new Map(events.map(({ event_id, tool_call }) => [event_id, tool_call?.arguments.id]));
      const ended = events.filter(({ event_type }) => event_type === "tool_call_result");
      const logged = new Set(ended.map(({ tool_call_event_id = "" }) => called.get(tool_call_event_id)));
      expect([...answered].filter((id) => !logged.has(id))).toEqual([]);
      expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_, at) => `event_${at + 1}`));
      const { roles } = (await raw(gateway, "/state")).json() as { roles: object };
      expect(Object.keys(roles)).toEqual(Array.from({ length: round }, (_, at) => `role-${at + 1}`));
      expect((await raw(gateway, "/clock/time")).json()).toEqual({ virtual_time });
      const { triggers } = (await raw(gateway, "/triggers/state")).json() as { triggers: object[] };
      expect(triggers).toEqual([expect.objectContaining({ id: "t", status: "armed", next_mark: "2040-01-01T00:00:00Z" })]);
    }
    await gateway.stop();
    await items.close();
  });

  test("G8 V50 does what came due meanwhile, though nobody asks it anything", async () => {
    const items = await mcpFixture({ name: "items", tools: [[{ name: "items_add" }, () => text("added")]] });
    const servers = [{ name: "items", kind: "mcp", url: items.url }] as const;
    const gateway = await start({ restarts: true, waitUntilReady: false, record: { name: "demo", servers: [...servers] } });
    await until("the gateway is ready", 30_000, async () => (await raw(gateway, "/health")).status === 200);
    await raw(gateway, "/clock/set-time", { method: "PUT", body: '{"virtual_time":"2030-01-01T00:00:00Z"}' });
    const trigger = { id: "t", when: { type: "time", at: "PT3S" }, actions: [{ type: "tool", tool: "items_add", args: { id: "late" } }] };
    expect((await post(gateway, "/triggers/register", { triggers: [trigger] })).status).toBe(200);
    await gateway.restart();
    const calls = () => items.received.filter(({ body }) => body.toString().includes('"late"')).length;
    await until("the trigger has fired", 60_000, () => calls() > 0);
    expect(calls()).toBe(1);
    await gateway.stop();
    await items.close();
  });
});
