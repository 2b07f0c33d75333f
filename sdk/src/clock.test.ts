import { describe, expect, test } from "vitest";
import { now, parseUniverseTime } from "./clock.ts";
import { withRequest } from "./context.ts";

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
