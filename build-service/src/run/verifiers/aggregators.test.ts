import { describe, expect, test } from "vitest";
import { type Aggregator, aggregate } from "./aggregators.ts";
import type { Row } from "./rows.ts";

const yes: Row = { result: true };
const no: Row = { result: false };

describe("the score of a verification", () => {
  const cases: [aggregator: Aggregator, rows: Row[], score: number][] = [
    ["all_pass", [], 0],
    ["all_pass", [yes, yes], 1],
    ["all_pass", [yes, no], 0],
    ["all_pass", [{ result: true, score: 0 }], 1],
    ["any_pass", [], 0],
    ["any_pass", [no, yes], 1],
    ["any_pass", [no, no], 0],
    ["weighted_average", [], 0],
    ["weighted_average", [yes, no], 0.5],
    ["weighted_average", [{ ...yes, weight: 3 }, no], 0.75],
    [
      "weighted_average",
      [
        { result: false, score: 0.25 },
        { result: true, score: 0.75 },
      ],
      0.5,
    ],
    ["weighted_average", [{ result: true, score: null, weight: null }], 1],
    // A penalty costs what it is short of 1, and nothing where it doesn't apply.
    ["weighted_average", [yes, { ...yes, weight: -1 }], 1],
    ["weighted_average", [yes, { ...no, weight: -0.5 }], 0.5],
    ["weighted_average", [yes, { result: false, score: 0.5, weight: -0.5 }], 0.75],
    ["weighted_average", [yes, { ...no, weight: -4 }], 0],
    ["weighted_average", [{ result: true, score: 1.5 }], 1],
    ["weighted_average", [{ ...yes, weight: 0 }], 0],
    ["weighted_average", [{ ...no, weight: -1 }], 0],
  ];
  test.each(cases)("%s of %j is %d", (aggregator, rows, score) => {
    expect(aggregate(aggregator, rows)).toBe(score);
  });
});
