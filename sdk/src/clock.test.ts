import { describe, expect, onTestFinished, test } from "vitest";
import { clockAt, saying, UNARMED } from "../../test/fixtures/sdk/clock.ts";
import { post, served } from "../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "./card.ts";
import { followClock, now } from "./clock.ts";
import { withRequest } from "./context.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { parseUniverseTime } from "./universe-time.ts";

test("a header's value has no space around it, another text may", () => {
  expect(parseUniverseTime(" 2026-03-01T09:00:00Z")).toBeUndefined();
});

describe("W1.4 now() is the universe's time", () => {
  test.each([
    ["2026-03-01T09:00:00Z", "2026-03-01T09:00:00.000Z"],
    ["2026-03-01 09:00:00.123456z", "2026-03-01T09:00:00.123Z"],
    ["2026-03-01t09:00:00+02:00", "2026-03-01T07:00:00.000Z"],
  ])("%s", (given, expected) => {
    expect(withRequest(new Headers({ "X-Universe-Now": given }), now).toISOString()).toBe(expected);
  });

  test.each([
    "2026-03-01T09:00Z",
    "2026-03-01T09:00:00",
    "2026-03-01T09:00:00+0100",
    "2026-02-30T09:00:00Z",
    "2026-03-01T25:00:00Z",
    "1772355600",
    "",
  ])("%j is no time, so the machine's clock counts", (given) => {
    expect(parseUniverseTime(given)).toBeUndefined();
    const before = Date.now();
    expect(withRequest(new Headers([["X-Universe-Now", given]]), now).getTime()).toBeGreaterThanOrEqual(before);
  });
});

describe("clock/v1", () => {
  const follower = () => new McpEnvironment(environmentCard({ name: "items" })).followsClock();
  /** What this process follows is forgotten at the end. */
  const clock = async (...answers: Parameters<typeof clockAt>) => {
    const url = await clockAt(...answers);
    onTestFinished(async () => await followClock(await clockAt(UNARMED)));
    return url;
  };
  const sync = async (env: McpEnvironment, body: object) => await post(`${await served(env)}/agentenv/ext/sync_clock`, body);

  test("is listed by an environment that follows the clock", () => {
    expect(follower().card()).toMatchObject({
      capabilities: {
        extensions: [
          {
            uri: "urn:agentenv:clock/v1",
            params: { endpoint: "/agentenv/ext/sync_clock", methods: { sync_clock: { method: "POST" } } },
          },
        ],
      },
    });
  });

  test("now() outside a request is the clock's that it was synced to; in one, the request's", async () => {
    const frozen = "2030-05-01T12:00:00.5Z";
    const answer = await sync(follower(), { env_get_time_url: await clock(saying(frozen)) });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect(now().toISOString()).toBe("2030-05-01T12:00:00.500Z");
    expect(withRequest(new Headers({ "X-Universe-Now": "2031-01-01T00:00:00Z" }), now).getUTCFullYear()).toBe(2031);
  });

  test("a clock that is not armed is none", async () => {
    await sync(follower(), { env_get_time_url: await clock(saying("2030-05-01T12:00:00Z")) });
    await sync(follower(), { env_get_time_url: await clock(UNARMED) });
    expect(Math.abs(now().getTime() - Date.now())).toBeLessThan(60_000);
  });

  test.each([
    [
      "an address that answers something else",
      async () => await clock({ status: 200, body: "{}" }),
      "it answered 200 without a virtual_time",
    ],
    ["one that fails", async () => await clock({ status: 500, body: "" }), "it answered 500 without a virtual_time"],
    ["one that nobody listens at", async () => "http://127.0.0.1:1/clock/time", "fetch failed"],
  ])("%s is an error", async (_name, address, why) => {
    const answer = await sync(follower(), { env_get_time_url: await address() });
    expect([answer.status, await answer.json()]).toEqual([
      502,
      {
        ok: false,
        error: { code: "clock_unreadable", message: `the clock's address can't be read: ${why}`, retryable: true, applied: "no" },
      },
    ]);
  });
});
