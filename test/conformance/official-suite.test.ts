import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConformanceFixture, conformanceFixture } from "../fixtures/gateway/conformance/server.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../fixtures/gateway/mcp-server.ts";
import { qualifyingShim } from "./shim.ts";
import { missingFrom, type Revision, runSuite, type SuiteRun } from "./suite.ts";

/** Checks that the fixture passes and fails: all that fail are of the tasks extension, which isn't scored. */
const DIRECT: readonly [Revision, number, number][] = [
  ["2025-11-25", 84, 0],
  ["2026-07-28", 164, 30],
];

let fixture: ConformanceFixture;
let others: readonly McpFixture[];
const direct = new Map<Revision, SuiteRun>();
beforeAll(async () => {
  fixture = await conformanceFixture();
  const other = (name: string) =>
    mcpFixture({
      name,
      tools: [[{ name: `${name}_say`, description: "Says its name.", inputSchema: { type: "object" } }, () => text(name)]],
    });
  others = [await other("items"), await other("stock")];
});
afterAll(async () => {
  await endHosts();
  await Promise.all([fixture, ...others].map((server) => server.close()));
});

/** Compares a run with the direct one, check by check. */
async function scoresTheSame(url: string, revision: Revision): Promise<void> {
  const run = await runSuite(url, revision);
  const before = direct.get(revision) ?? { passed: ["no direct run"], failed: [] };
  expect([missingFrom(run.passed, before.passed), missingFrom(before.failed, run.failed)], run.log).toEqual([[], []]);
  expect(run.exitCode, run.log).toBe(0);
}

describe.each(DIRECT)("the official suite for %s", (revision, passed, failed) => {
  test("passes against the fixture itself", async () => {
    const run = await runSuite(`http://localhost:${fixture.port}/mcp`, revision);
    direct.set(revision, run);
    expect([run.exitCode, run.passed.length, run.failed.length], run.log).toEqual([0, passed, failed]);
    expect(run.failed.filter((name) => !/^server-tasks-/.test(name))).toEqual([]);
  });

  describe.each(HOSTS)("scores the same through the gateway on the $host host", ({ start }) => {
    const own = { name: "fixture", kind: "mcp" as const };
    const through = async (options: Parameters<typeof start>[0], use: (gateway: RunningGateway) => Promise<void>) => {
      // the suite asks as a page of the gateway's own address, which on Workers other deployments' sites may share
      const settings = { ...options.settings, GATEWAY_ALLOWED_ORIGINS: "http://localhost:{port}" };
      const gateway = await start({ ...options, settings });
      try {
        await use(gateway);
      } finally {
        await gateway.stop();
      }
    };
    const servers = () => others.map(({ url }, at) => ({ name: `other${at}`, kind: "mcp" as const, url }));

    test("G2 with one server", async () => {
      await through({ record: { servers: [{ ...own, url: fixture.url }] } }, ({ port, prefix }) =>
        scoresTheSame(`http://localhost:${port}${prefix}/mcp`, revision),
      );
    });

    test("G2 G3 with three servers", async () => {
      const [first, second] = servers();
      const record = { servers: [first, { ...own, url: fixture.url }, second].filter((server) => server !== undefined) };
      await through({ record }, ({ port, prefix }) => scoresTheSame(`http://localhost:${port}${prefix}/mcp`, revision));
    });

    test("G2 G3 with three servers and qualified names, through a shim", async () => {
      const record = { servers: [...servers(), { ...own, url: fixture.url }] };
      await through({ record, settings: { GATEWAY_TOOL_NAMES: "qualified" } }, async ({ port, prefix }) => {
        const shim = await qualifyingShim({ port, path: `${prefix}/mcp` }, own.name);
        try {
          await scoresTheSame(`http://localhost:${shim.port}/mcp`, revision);
        } finally {
          await shim.close();
        }
      });
    });
  });
});
