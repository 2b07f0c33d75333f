import type { Serving } from "@agent-env/sdk";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { checkedByKit, outcomesIn } from "../fixtures/conformance-kit.ts";
import { conformanceEnvironment } from "../fixtures/sdk/conformance-environment.ts";
import { type Revision, runSuite } from "./suite.ts";

/** What an environment of this SDK has no words for: the tasks extension, schemas not of zod's, streams that are taken up again. */
const NOT_OFFERED = /^server-(tasks-|json-schema-2020-12 |server-sse-polling )/;

/** How many checks pass. */
const PASSED: readonly [Revision, number][] = [
  ["2025-11-25", 74],
  ["2026-07-28", 160],
];

let serving: Serving;
beforeAll(async () => {
  vi.spyOn(console, "error").mockReturnValue();
  serving = await conformanceEnvironment().serve({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => await serving.close());

describe("W1.1 an environment written with the SDK", () => {
  test.each(PASSED)("passes the official suite for %s", async (revision, passed) => {
    const run = await runSuite(`http://localhost:${serving.port}/mcp`, revision);
    expect(
      run.failed.filter((name) => !NOT_OFFERED.test(name)),
      run.log,
    ).toEqual([]);
    expect([run.exitCode, run.passed.length], run.log).toEqual([0, passed]);
  });

  test("W5 passes our kit too", async () => {
    const report = await checkedByKit(`http://127.0.0.1:${serving.port}`);
    expect({ conforms: report.conforms, failed: outcomesIn(report, "failed") }).toEqual({ conforms: true, failed: [] });
  });
});
