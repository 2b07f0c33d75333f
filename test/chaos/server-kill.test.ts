import { afterAll, describe, expect, test } from "vitest";
import { sayFigure } from "../../bench/long-forms.ts";
import {
  bounded,
  burst,
  CALLS,
  type Callers,
  openedCallers,
  PAGES,
  sessionOf,
  type Tally,
  verdictOfResult,
  WAITS,
} from "../fixtures/gateway/chaos/calls.ts";
import { CHAOS, growth, isLong, ROUNDS } from "../fixtures/gateway/chaos/rounds.ts";
import { type KillableServer, SERVERS, serversIn, startChaosServers } from "../fixtures/gateway/chaos/servers.ts";
import { modernBody, modernHeaders, streamFrom } from "../fixtures/gateway/client.ts";
import { endHosts, HOSTS } from "../fixtures/gateway/hosts.ts";
import { until } from "../fixtures/until.ts";

const FEW = 30;
const MANY = 300;
/** Calls of one server that are under way at once: no more can be cut off by a kill. */
const MOST_UNDER_WAY = 64;
const EVENT_MS = 240_000;
/** How much more the gateway may hold at the end than near the beginning. */
const MAX_GROWTH_MIB = { node: 16, worker: 100 };

afterAll(endHosts);

/** A server that is killed, and who calls it. `done` is filled with the calls that were answered. */
type Scene = { readonly server: KillableServer; readonly callers: Callers; readonly done: Set<string> };

const all = (count: number): Tally => ({ done: count, unknown: 0, away: 0, cut: 0 });
const calls = ({ callers, server, done }: Scene, count: number) => burst(callers, server.name, count, { ways: CALLS, done });
const pages = ({ callers, server, done }: Scene, count: number) =>
  burst(callers, server.name, server.name === "shop" ? count : 0, { ways: PAGES, done });

/** The first calls, and the first pages, that a server gets after it was started anew. */
async function firstBurst(scene: Scene, count: number): Promise<void> {
  const burst = { calls: calls(scene, count), pages: pages(scene, count) };
  expect(await burst.calls.tally).toEqual(all(count));
  expect(await burst.pages.tally).toEqual(all(scene.server.name === "shop" ? count : 0));
}

/** While nobody calls it. The first calls come while it is away, and wait for it. */
async function idle(scene: Scene): Promise<void> {
  await scene.server.kill();
  const early = calls(scene, FEW);
  await scene.server.start();
  expect(await early.tally).toEqual(all(FEW));
  await firstBurst(scene, FEW);
}

/** While some of many calls have been answered, some are under way, and some wait. */
async function inBurst(scene: Scene, count: number): Promise<number> {
  const cut = { calls: calls(scene, count), pages: pages(scene, count) };
  // a wrong answer is told at once
  await Promise.race([cut.calls.tally, until("the first calls are answered", EVENT_MS, () => cut.calls.answered() > count / 10)]);
  await scene.server.kill();
  await scene.server.start();
  const { done, unknown, ...others } = await cut.calls.tally;
  expect([done + unknown, others]).toEqual([count, { away: 0, cut: 0 }]);
  expect(unknown).toBeLessThanOrEqual(MOST_UNDER_WAY);
  // a page is cut off where its head was on its way, and refused while the site is away
  expect((await cut.pages.tally).unknown).toBe(0);
  await firstBurst(scene, count);
  return unknown;
}

/** While it streams: a call's progress, and the events of a site, which are passed on as they come. */
async function inStream(scene: Scene): Promise<void> {
  const { callers, server } = scene;
  const params = { name: `${server.name}_hold`, arguments: {}, _meta: { progressToken: "p" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "held", method: "tools/call", params });
  const held = streamFrom(callers.gateway, { method: "POST", headers: sessionOf(callers), body });
  const events =
    server.name === "shop" ? ["/website/shop/events", "/svc/shop/events"].map((path) => streamFrom(callers.gateway, { path })) : [];
  await until("progress comes", EVENT_MS, () => held.messages.length > 1 && events.every(({ text }) => text().includes("data: 2")));
  await server.kill();
  await bounded("the held call", held.ended);
  for (const stream of events) await bounded("the events", stream.ended);
  const last = held.messages.at(-1);
  expect([last?.["id"], verdictOfResult(last?.["result"], server.name, "held")]).toEqual(["held", "unknown"]);
  expect(held.messages.filter(({ method }) => method === "notifications/progress").length).toBe(held.messages.length - 1);
  expect(events.map(({ isCut }) => isCut())).toEqual(events.map(() => true));
  await server.start();
  await firstBurst(scene, FEW);
}

/** While it starts again after a kill. */
async function starting(scene: Scene): Promise<void> {
  await scene.server.kill();
  const early = calls(scene, FEW);
  await scene.server.dieStarting();
  await scene.server.start();
  expect(await early.tally).toEqual(all(FEW));
  await firstBurst(scene, FEW);
}

describe.each(HOSTS)("servers that are killed, on the $host host", ({ host, start }) => {
  test(
    `G5 N2 W7.3 idle, in bursts, in a stream, in their start: every first burst is whole, and no call runs twice (${ROUNDS} rounds)`,
    CHAOS,
    async () => {
      const chaos = await startChaosServers();
      const gateway = await start({ restarts: true, settings: WAITS, record: { servers: serversIn(chaos) } });
      try {
        const callers = await openedCallers(gateway);
        const notices = streamFrom(gateway, { headers: sessionOf(callers) });
        const listen = { method: "subscriptions/listen", id: "l", params: { notifications: { toolsListChanged: true } } };
        const changes = streamFrom(gateway, { method: "POST", headers: modernHeaders(listen), body: JSON.stringify(modernBody(listen)) });
        const done = new Set<string>();
        const memory: number[] = [];
        let unknown = 0;
        for (let round = 1; round <= ROUNDS; round++) {
          await Promise.all(
            chaos.servers.map(async (server, index) => {
              const scene = { server, callers, done };
              await idle(scene);
              unknown += await inBurst(scene, FEW);
              // in the short form each server has one such round
              if (isLong || (round + index) % SERVERS.length === 0) unknown += await inBurst(scene, MANY);
              await inStream(scene);
              await starting(scene);
            }),
          );
          memory.push(await gateway.memoryBytes());
        }
        const runs = chaos.runs();
        expect([...runs].filter(([, times]) => times > 1)).toEqual([]);
        expect([...done].filter((id) => !runs.has(id))).toEqual([]);
        expect([notices.isOver(), changes.isOver()]).toEqual([false, false]);
        const { firstMib, lastMib } = growth(memory);
        sayFigure(
          `kills of servers, ${host} host`,
          `${ROUNDS} rounds of kills of ${SERVERS.length} servers, ${done.size} calls and pages done, ${unknown} cut off and named; memory ${firstMib.toFixed(1)} MiB, then ${lastMib.toFixed(1)} MiB`,
        );
        expect(lastMib - firstMib).toBeLessThan(MAX_GROWTH_MIB[host]);
      } finally {
        await gateway.stop();
        await chaos.stop();
      }
    },
  );
});
