import { describe, expect, test } from "vitest";
import { nthLength, parseDuration, parseMark } from "./times.ts";

describe("G1 durations", () => {
  test.each([
    ["PT5S", 5],
    ["PT0.25S", 0.25],
    ["P1DT2H3M4S", 93_784],
    ["P2W", 1_209_600],
    ["PT0S", 0],
  ])("%s", (text, seconds) => {
    expect(parseDuration(text)).toBe(BigInt(seconds * 1_000_000));
  });

  test.each(["", "P", "PT", "P1DT", "1S", "P1M", "P1Y", "PT-1S", "pt1s", "PT1S "])("%j is none", (text) => {
    expect(parseDuration(text)).toBe(null);
  });
});

test("G1 a mark is a time, or so long after the clock's start", () => {
  expect(parseMark("2030-01-01T00:00:00Z")).toEqual({ at: BigInt(Date.UTC(2030, 0, 1)) * 1000n });
  expect([parseMark("PT1H"), parseMark("tomorrow")]).toEqual([{ afterStart: 3_600_000_000n }, null]);
});

test("G1 drawn lengths are the same for a seed, differ along it, and have its mean", () => {
  const spread = { dist: "exp", mean: "PT10S", seed: 7 } as const;
  const drawn = Array.from({ length: 2_000 }, (_, n) => Number(nthLength(spread, n)));
  expect(drawn).toEqual(Array.from({ length: 2_000 }, (_, n) => Number(nthLength(spread, n))));
  expect(new Set(drawn).size).toBe(2_000);
  const mean = drawn.reduce((sum, each) => sum + each, 0) / drawn.length / 1_000_000;
  expect(mean).toBeGreaterThan(9);
  expect(mean).toBeLessThan(11);
  expect(nthLength({ ...spread, seed: 8 }, 0)).not.toBe(nthLength(spread, 0));
});
