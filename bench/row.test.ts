import { describe, expect, test } from "vitest";
import { median, rowOf, verdict } from "./row.ts";

describe("a row", () => {
  const times = { bench: "build", metric: "first build", unit: "s" as const, ours: [5, 6, 5.5], peer: [5, 4, 5] };

  test("holds medians and their ratio", () => {
    expect(rowOf({ ...times, beyond: false })).toEqual({
      bench: "build",
      metric: "first build",
      unit: "s",
      ours: 5.5,
      peer: 5,
      value: 5.5,
      ratio: 1.1,
    });
  });

  test("can be about what ours takes beyond the peer", () => {
    expect(rowOf({ ...times, beyond: true }).value).toBe(0.5);
  });
});

test("the median of an even number of values lies between the two in the middle", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test("a row may hold the original's median, or why there is none", () => {
  const times = { bench: "plan", metric: "cold", unit: "ms" as const, ours: [2], peer: [1], beyond: false };
  expect(rowOf({ ...times, original: [3, 5, 4] }).original).toBe(4);
  expect(rowOf({ ...times, original: "it can't" }).original).toBe("it can't");
  expect("original" in rowOf(times)).toBe(false);
});

test.each([
  [{ ratio: 0.3, bar: { atLeast: 0.25 } }, "≥ 0.25: met"],
  [{ ratio: 0.2, bar: { atLeast: 0.25 } }, "≥ 0.25: missed by 20 %"],
  [{ ratio: 6, bar: { atMost: 6 } }, "≤ 6: met"],
  [{ ratio: 7.5, bar: { atMost: 6 } }, "≤ 6: missed by 25 %"],
  [{ ratio: 9, bar: { of: "value" as const, atMost: 30 } }, "≤ 30 ms: met"],
  [{ ratio: 1, bar: { of: "value" as const, atMost: 20 } }, "≤ 20 ms: missed by 25 %"],
  [{ ratio: 1 }, ""],
])("a row says whether what was asked of it holds: %o", (row, said) => {
  expect(verdict({ unit: "ms", value: 25, ...row })).toBe(said);
});
