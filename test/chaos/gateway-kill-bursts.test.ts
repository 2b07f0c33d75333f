import { afterAll, describe, expect, test } from "vitest";
import { sayFigure } from "../../bench/long-forms.ts";
import { bounded, burst, CALLS, type Callers, openedCallers, sessionOf, type Tally, WAITS } from "../fixtures/gateway/chaos/calls.ts";
import { CHAOS, ROUNDS } from "../fixtures/gateway/chaos/rounds.ts";
import { SERVERS, serversIn, startChaosServers } from "../fixtures/gateway/chaos/servers.ts";
import { raw, streamFrom } from "../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { until } from "../fixtures/until.ts";

const FEW = 30;
const MANY = 300;
const EVENT_MS = 240_000;
const READY_MS = 60_000;

afterAll(endHosts);

type Scene = { readonly callers: Callers; readonly done: Set<string> };

const all = (count: number): Tally => ({ done: count, unknown: 0, away: 0, cut: 0 });
/** Calls of all servers: as many of each. */
const calls = ({ callers, done }: Scene, count: number) => SERVERS.map((server) => burst(callers, server, count, { ways: CALLS, done }));

async function ready(gateway: RunningGateway): Promise<void> {
  await until("the gateway is ready", READY_MS, async () => (await raw(gateway, "/health")).status === 200);
}

/** The first calls that a gateway gets after it was started anew, in sessions of before. */
async function firstBurst(scene: Scene, count: number): Promise<void> {
  const tallies = await Promise.all(calls(scene, count).map(({ tally }) => tally));
  expect(tallies).toEqual(SERVERS.map(() => all(count)));
}

async function idle(scene: Scene): Promise<void> {
  await scene.callers.gateway.restart();
  await firstBurst(scene, FEW);
}

/** A call that is under way has no answer then; never one that says nothing, or half of one. */
async function inBurst(scene: Scene, count: number): Promise<number> {
  const { gateway } = scene.callers;
  const bursts = calls(scene, count / SERVERS.length);
  const begun = until("the first calls are answered", EVENT_MS, () => bursts.some(({ answered }) => answered() > count / 20));
  // a wrong answer is told at once
  await Promise.race([begun, ...bursts.map(({ tally }) => tally)]);
  await gateway.kill();
  const tallies = await Promise.all(bursts.map(({ tally }) => tally));
  expect(tallies.map(({ unknown, away }) => unknown + away)).toEqual(SERVERS.map(() => 0));
  await gateway.begin();
  await ready(gateway);
  await firstBurst(scene, FEW);
  return tallies.reduce((sum, { cut }) => sum + cut, 0);
}

/** While it streams: a call's progress, a session's notices, and the events of a site. */
async function inStream(scene: Scene): Promise<void> {
  const { gateway } = scene.callers;
  const headers = sessionOf(scene.callers);
  const params = { name: "stock_hold", arguments: {}, _meta: { progressToken: "p" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "held", method: "tools/call", params });
  const held = streamFrom(gateway, { method: "POST", headers, body });
  const notices = streamFrom(gateway, { headers });
  const events = streamFrom(gateway, { path: "/website/shop/events" });
  await until("all of them stream", EVENT_MS, () => held.messages.length > 1 && events.text().includes("data: 2") && notices.text() !== "");
  await gateway.kill();
  for (const stream of [held, notices, events]) await bounded("a stream", stream.ended);
  expect([held, notices, events].map(({ isCut }) => isCut())).toEqual([true, true, true]);
  expect(held.messages.filter(({ method }) => method !== "notifications/progress")).toEqual([]);
  await gateway.begin();
  await ready(gateway);
  const again = streamFrom(gateway, { headers });
  await until("the session has a stream again", EVENT_MS, () => again.text() !== "");
  await firstBurst(scene, FEW);
  expect(again.isOver()).toBe(false);
  again.close();
}

/** While it starts again after a kill: it has been asked, so that it has begun. */
async function starting(scene: Scene): Promise<void> {
  const { gateway } = scene.callers;
  await gateway.kill();
  await gateway.begin();
  await raw(gateway, "/health");
  await gateway.kill();
  await gateway.begin();
  await ready(gateway);
  await firstBurst(scene, FEW);
}

describe.each(HOSTS)("a gateway that is killed before servers that stay, on the $host host", ({ host, start }) => {
  test(
    `G8 N2 W7.3 idle, in bursts, in a stream, in its start: every first burst is whole, and no call runs twice (${ROUNDS} rounds)`,
    CHAOS,
    async () => {
      const chaos = await startChaosServers();
      const gateway = await start({ restarts: true, settings: WAITS, record: { servers: serversIn(chaos) } });
      try {
        const scene = { callers: await openedCallers(gateway), done: new Set<string>() };
        let cut = 0;
        for (let round = 1; round <= ROUNDS; round++) {
          await idle(scene);
          cut += await inBurst(scene, FEW);
          cut += await inBurst(scene, MANY);
          await inStream(scene);
          await starting(scene);
        }
        const runs = chaos.runs();
        expect([...runs].filter(([, times]) => times > 1)).toEqual([]);
        expect([...scene.done].filter((id) => !runs.has(id))).toEqual([]);
        sayFigure(
          `kills of the gateway, ${host} host`,
          `${ROUNDS} rounds, ${ROUNDS * 6} kills of the gateway, ${scene.done.size} calls done, ${cut} cut off without an answer`,
        );
      } finally {
        await gateway.stop();
        await chaos.stop();
      }
    },
  );
});
