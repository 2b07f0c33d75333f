import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConformanceFixture, conformanceFixture } from "../fixtures/gateway/conformance/server.ts";
import { endHosts, HOSTS } from "../fixtures/gateway/hosts.ts";
import { missingFrom, type Revision, runSuite, type SuiteRun } from "./suite.ts";

/** Checks that the fixture passes and fails: all that fail are of the tasks extension, which isn't scored. */
const DIRECT: readonly [Revision, number, number][] = [
  ["2025-11-25", 84, 0],
  ["2026-07-28", 164, 30],
];

let fixture: ConformanceFixture;
const direct = new Map<Revision, SuiteRun>();
beforeAll(async () => {
  fixture = await conformanceFixture();
});
afterAll(async () => {
  await endHosts();
  await fixture.close();
});

describe.each(DIRECT)("the official suite for %s", (revision, passed, failed) => {
  test("passes against the fixture itself", async () => {
    const run = await runSuite(`http://localhost:${fixture.port}/mcp`, revision);
    direct.set(revision, run);
    expect([run.exitCode, run.passed.length, run.failed.length], run.log).toEqual([0, passed, failed]);
    expect(run.failed.filter((name) => !/^server-tasks-/.test(name))).toEqual([]);
  });

  test.each(HOSTS)("G2 scores the same through the gateway on the $host host", async ({ start }) => {
    const gateway = await start({ record: { servers: [{ name: "fixture", kind: "mcp", url: fixture.url }] } });
    try {
      const url = `http://localhost:${gateway.port}${gateway.prefix}/mcp`;
      const run = await runSuite(url, revision);
      const before = direct.get(revision) ?? { passed: ["no direct run"], failed: [] };
      expect([missingFrom(run.passed, before.passed), missingFrom(before.failed, run.failed)], run.log).toEqual([[], []]);
      expect(run.exitCode, run.log).toBe(0);
    } finally {
      await gateway.stop();
    }
  });
});
