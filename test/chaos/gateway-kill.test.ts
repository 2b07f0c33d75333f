import { afterAll, describe, expect, test } from "vitest";
import { sayFigure } from "../../bench/long-forms.ts";
import { CHAOS, growth, ROUNDS } from "../fixtures/gateway/chaos/rounds.ts";
import { messagesIn, openedSession, post, raw } from "../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { mcpFixture, text } from "../fixtures/gateway/mcp-server.ts";
import { until } from "../fixtures/until.ts";

afterAll(endHosts);

const CALLERS = 8;
const CALLS_BEFORE_THE_KILL = 60;
const LOAD_MS = 120_000;

type Event = { event_type: string; event_id: string; tool_call_event_id?: string; tool_call?: { arguments: { id: string } } };

/** The events behind the first `count`. */
async function eventsAfter(gateway: RunningGateway, count: number): Promise<Event[]> {
  const { text } = await raw(gateway, `/trajectory?after=${count}`);
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line): Event => JSON.parse(line));
}

describe.each(HOSTS)("a gateway that is killed under load on the $host host", ({ host, start }) => {
  test(`G8 V50 loses no answered call, rule, trigger or session, and not the time (${ROUNDS} rounds)`, CHAOS, async () => {
    const items = await mcpFixture({
      name: "items",
      tools: [
        [{ name: "items_add" }, ({ args }) => text(args["id"])],
        [{ name: "items_who" }, ({ meta }) => text(meta["agentenv.io/session"])],
      ],
    });
    const gateway = await start({ restarts: true, record: { name: "demo", servers: [{ name: "items", kind: "mcp", url: items.url }] } });
    const answered = new Set<string>();
    const sessions: { headers: { "mcp-session-id": string }; key: string }[] = [];
    const keyOf = async (headers: { "mcp-session-id": string }): Promise<string> => {
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_who", arguments: {} } };
      const answer = await post(gateway, "/mcp", call, headers);
      return JSON.stringify(answer.status === 200 ? messagesIn(answer)[0]?.["result"] : answer.text);
    };
    const logged = new Set<string | undefined>();
    const called = new Map<string, string | undefined>();
    const memory: number[] = [];
    let seen = 0;

    for (let round = 1; round <= ROUNDS; round++) {
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
      await until("there is load", LOAD_MS, () => answered.size >= before + CALLS_BEFORE_THE_KILL);
      // each of these is answered right ahead of the kill
      const headers = await openedSession(gateway);
      sessions.push({ headers, key: await keyOf(headers) });
      await post(gateway, "/tools/disable", { role: `role-${round}`, tools: ["items_add"] });
      const trigger = { id: `t-${round}`, when: { type: "time", at: "2140-01-01T00:00:00Z" }, actions: [] };
      await post(gateway, "/triggers/register", { triggers: [trigger] });
      const virtual_time = new Date(Date.UTC(2030, 0, round, 3, 4, 5)).toISOString().replace(".000Z", "Z");
      const armed = JSON.stringify({ virtual_time, virtual_seconds_per_real_second: 0 });
      expect((await raw(gateway, "/clock/set-time", { method: "PUT", body: armed })).status).toBe(200);
      isKilled = true;
      await gateway.restart();
      await Promise.all(callers);

      const events = await eventsAfter(gateway, seen);
      expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_, at) => `event_${seen + at + 1}`));
      seen += events.length;
      for (const { event_id, tool_call } of events) called.set(event_id, tool_call?.arguments.id);
      for (const { event_type, tool_call_event_id = "" } of events)
        if (event_type === "tool_call_result") logged.add(called.get(tool_call_event_id));
      expect([...answered].filter((id) => !logged.has(id))).toEqual([]);
      const { roles } = (await raw(gateway, "/state")).json() as { roles: object };
      expect(Object.keys(roles).toSorted()).toEqual(numbered("role", round));
      expect((await raw(gateway, "/clock/time")).json()).toEqual({ virtual_time });
      const { triggers } = (await raw(gateway, "/triggers/state")).json() as { triggers: { id: string; status: string }[] };
      expect(triggers.map(({ id }) => id).toSorted()).toEqual(numbered("t", round));
      expect(triggers.filter(({ status }) => status !== "armed")).toEqual([]);
      expect(await Promise.all(sessions.map(({ headers }) => keyOf(headers)))).toEqual(sessions.map(({ key }) => key));
      memory.push(await gateway.memoryBytes());
    }
    const { firstMib, lastMib } = growth(memory);
    sayFigure(
      `restarts of the gateway, ${host} host`,
      `${ROUNDS} rounds, ${answered.size} answered calls in the trajectory of ${seen} events, ${sessions.length} sessions; after a start ${firstMib.toFixed(1)} MiB, then ${lastMib.toFixed(1)} MiB`,
    );
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

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${name}-${at + 1}`).toSorted();
