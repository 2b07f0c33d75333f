import { expect, test } from "vitest";
import type { Channel } from "./channel.ts";
import { Link } from "./link.ts";

const ask = { message: { jsonrpc: "2.0", method: "tools/call" }, silenceMs: 1_000, heard: () => undefined };

function upLink(): Link {
  const link = new Link({
    greet: async () => undefined,
    waitMs: 1_000,
    limits: { maxCalls: 64, maxWaitingCalls: 1_000 },
    now: Date.now,
    cameUp: () => undefined,
    background: () => undefined,
  });
  link.assumeUp();
  return link;
}

test.each([
  [202, null],
  [302, null],
  [401, false],
  [429, false],
  [503, null],
])("N2 a call that is answered HTTP %i without a reply: whether it was delivered is %s", async (status, delivered) => {
  const channel: Channel = {
    era: "modern",
    opened: async () => undefined,
    request: async () => ({ status, session: undefined, reply: undefined, isStream: false }),
  };
  const outcome = await upLink().request(channel, ask, false);
  expect(outcome).toEqual({ trouble: { reason: "refused", detail: `HTTP ${status}`, delivered }, status });
});

test("F11 with 64 calls under way and 1,000 in line the next one is told that the server is busy", async () => {
  const release = Promise.withResolvers<void>();
  const channel: Channel = {
    era: "modern",
    opened: async () => undefined,
    request: async () => {
      await release.promise;
      return { status: 200, session: undefined, reply: { jsonrpc: "2.0", id: 1, result: {} }, isStream: false };
    },
  };
  const link = upLink();
  const calls = Array.from({ length: 1_064 }, () => link.request(channel, ask, false));
  expect(await link.request(channel, ask, false)).toEqual({
    trouble: { reason: "busy", detail: "too many calls are waiting for it", delivered: false },
  });
  release.resolve();
  const outcomes = await Promise.all(calls);
  expect(outcomes.filter((outcome) => "reply" in outcome).length).toBe(1_064);
});
