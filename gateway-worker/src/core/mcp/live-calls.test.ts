import { describe, expect, test } from "vitest";
import { keptBytes } from "../../../../test/fixtures/kept-memory.ts";
import { silentTurn } from "../deployment/silent-turn.ts";
import type { Host } from "../seam.ts";
import { LiveCall } from "./live-call.ts";
import { type Entry, LiveCalls } from "./live-calls.ts";

const turn = silentTurn("agent", "ann");
const newCall = (): LiveCall => new LiveCall({} as Host, { ...turn }, { token: undefined, ownToken: 1 });

describe("calls under way", () => {
  test("a call is found by its caller and id, whatever was added and removed before", () => {
    const calls = new LiveCalls();
    const entries = [1, 2, 3].map((id) => ({ id, call: newCall() })).map(({ id, call }) => ({ id, call, entry: calls.add(call, id) }));
    const [first, second, third] = entries;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three were added");
    calls.remove(first.entry);
    expect(calls.only(turn, 1)).toBeUndefined();
    expect(calls.only(turn, 2)).toBe(second.call);
    expect(calls.only(turn, 3)).toBe(third.call);
    calls.remove(third.entry);
    expect(calls.only(turn, 3)).toBeUndefined();
    expect(calls.only(turn, 2)).toBe(second.call);
    calls.remove(second.entry);
    expect(calls.only(turn, 2)).toBeUndefined();
  });

  test("ids of other types and other callers are others; of two with one id none is found", () => {
    const calls = new LiveCalls();
    const call = newCall();
    calls.add(call, 1);
    expect(calls.only(turn, "1")).toBeUndefined();
    expect(calls.only(silentTurn("agent", "ben"), 1)).toBeUndefined();
    expect(calls.only(turn, 1)).toBe(call);
    calls.add(newCall(), 1);
    expect(calls.only(turn, 1)).toBeUndefined();
  });

  test("what is over leaves nothing that waits for a full collection", async () => {
    const calls = new LiveCalls();
    const kept = await keptBytes(() => {
      const open: Entry[] = [];
      for (let id = 0; id < 20_000; id++) {
        open.push(calls.add(Object.assign(newCall(), { request: new Array(100).fill(id) }), id));
        for (const entry of open.splice(0, open.length - 32)) calls.remove(entry);
      }
    });
    expect(kept).toBeLessThan(2e6);
  });
});
