import { describe, expect, test } from "vitest";
import { below, contextIn, withContext } from "./trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

describe("a caller's traceparent", () => {
  test.each([
    ["sampled", `00-${TRACE}-${PARENT}-01`, false],
    ["not sampled", `00-${TRACE}-${PARENT}-00`, false],
    ["drawn at random", `00-${TRACE}-${PARENT}-03`, true],
    ["with flags that nobody knows", `00-${TRACE}-${PARENT}-f8`, false],
    ["of a later version", `cc-${TRACE}-${PARENT}-01`, false],
    ["of a later version that says more", `cc-${TRACE}-${PARENT}-01-what-the-future-holds`, false],
    ["with white space around", `  00-${TRACE}-${PARENT}-01\t`, false],
  ])("is taken: %s", (_name, value, isRandom) => {
    expect(contextIn([["traceparent", value]])).toEqual({ traceId: TRACE, spanId: PARENT, isRandom });
  });

  test.each([
    ["empty", ""],
    ["of version ff", `ff-${TRACE}-${PARENT}-01`],
    ["longer than its version has", `00-${TRACE}-${PARENT}-01-more`],
    ["in capitals", `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ["with a trace of zeros", `00-${"0".repeat(32)}-${PARENT}-01`],
    ["with a parent of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["too short", `00-${TRACE.slice(1)}-${PARENT}-01`],
    ["without flags", `00-${TRACE}-${PARENT}`],
    ["of a later version with something stuck to it", `01-${TRACE}-${PARENT}-01x`],
    ["two in one", `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
  ])("is not: %s", (_name, value) => {
    expect(contextIn([["traceparent", value]])).toBe(null);
  });

  test("is not where there are two", () => {
    const value = `00-${TRACE}-${PARENT}-01`;
    expect(
      contextIn([
        ["traceparent", value],
        ["traceparent", value],
      ]),
    ).toBe(null);
  });
});

test("what is below another is of its trace; what is below nothing begins one", () => {
  const parent = { traceId: TRACE, spanId: PARENT, isRandom: false };
  const child = below(parent);
  expect(child).toEqual({ traceId: TRACE, spanId: expect.stringMatching(/^[0-9a-f]{16}$/), isRandom: false });
  expect(child.spanId).not.toBe(PARENT);
  const first = below(null);
  expect(first).toEqual({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    isRandom: true,
  });
  expect(below(null).traceId).not.toBe(first.traceId);
});

test("a server is sent the gateway's place in the caller's trace, with the caller's state and baggage", () => {
  const fields = [
    ["traceparent", `00-${TRACE}-${PARENT}-00`],
    ["accept", "*/*"],
    ["tracestate", "vendor=1"],
    ["baggage", "user=7"],
  ] as const;
  expect(withContext(fields, { traceId: TRACE, spanId: "00000000000000ab", isRandom: false })).toEqual([
    ["accept", "*/*"],
    ["tracestate", "vendor=1"],
    ["baggage", "user=7"],
    ["traceparent", `00-${TRACE}-00000000000000ab-01`],
  ]);
});

test("a state goes with the traceparent that it came with, and is dropped with one that isn't taken", () => {
  const sent = withContext(
    [
      ["traceparent", "nonsense"],
      ["tracestate", "vendor=1"],
    ],
    { traceId: TRACE, spanId: PARENT, isRandom: true },
  );
  expect(sent).toEqual([["traceparent", `00-${TRACE}-${PARENT}-03`]]);
});
