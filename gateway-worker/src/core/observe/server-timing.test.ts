import { expect, test } from "vitest";
import { serverTimingField } from "./server-timing.ts";

test("times are told in milliseconds, to the microsecond, and never below zero", () => {
  expect(serverTimingField({ totalMs: 12.34567, upstreamMs: 10 })).toEqual(["server-timing", "gateway;dur=2.346, upstream;dur=10"]);
  expect(serverTimingField({ totalMs: 1, upstreamMs: 1.0004 })).toEqual(["server-timing", "gateway;dur=0, upstream;dur=1"]);
});
