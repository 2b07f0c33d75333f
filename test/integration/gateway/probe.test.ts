import { afterAll, afterEach, expect, test } from "vitest";
import { endHosts } from "../../fixtures/gateway/hosts.ts";
import { mcpFixture } from "../../fixtures/gateway/mcp-server.ts";
import { runNodeHost } from "../../fixtures/gateway/node-host.ts";
import { card, recorder } from "../../fixtures/gateway/recorder.ts";

afterAll(endHosts);

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0)) await end();
});

async function probed(probes: object[]): Promise<{ code: number | null; lines: { name: string; ok: boolean; reason: string | null }[] }> {
  const run = await runNodeHost({ GATEWAY_PROBES: JSON.stringify(probes) }, ["probe"]);
  const code = await run.exited;
  const lines = run
    .output()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { code, lines: lines.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, ok, reason }) => ({ name, ok, reason })) };
}

test("probes of every kind are all ready: a line each, exit code 0", async () => {
  const server = await mcpFixture({ name: "items", tools: [] });
  const site = await recorder({
    card: () => ({ status: 200, body: card("shop") }),
    answer: (request, response) => response.writeHead(request.url === "/api/health" ? 404 : 200).end(),
  });
  clean.push(server.close, site.close);
  const budgetSeconds = 5;
  const { code, lines } = await probed([
    { name: "a", kind: "tcp", url: `tcp://127.0.0.1:${server.port}`, budgetSeconds },
    { name: "b", kind: "http", url: `${site.url}/x`, budgetSeconds },
    { name: "c", kind: "mcp", url: `${server.url}/mcp`, budgetSeconds },
    { name: "d", kind: "backend", url: site.url, budgetSeconds },
  ]);
  expect([code, lines]).toEqual([0, ["a", "b", "c", "d"].map((name) => ({ name, ok: true, reason: null }))]);
});

test("what isn't ready within its budget is told with the last reason, and the exit code is 1", async () => {
  const held = await recorder();
  await held.close();
  const site = await recorder({
    card: () => ({ status: 500 }),
    answer: (request, response) => response.writeHead(request.url === "/api/health" ? 404 : 503).end(),
  });
  clean.push(site.close);
  const budgetSeconds = 0.6;
  const { code, lines } = await probed([
    { name: "a", kind: "tcp", url: `tcp://127.0.0.1:${held.port}`, budgetSeconds },
    { name: "b", kind: "http", url: `${site.url}/x`, budgetSeconds },
    { name: "c", kind: "mcp", url: `${site.url}/mcp`, budgetSeconds },
    { name: "d", kind: "backend", url: site.url, budgetSeconds },
  ]);
  expect([code, lines]).toEqual([
    1,
    [
      { name: "a", ok: false, reason: "connection refused" },
      { name: "b", ok: false, reason: "HTTP 503" },
      { name: "c", ok: false, reason: "HTTP 503 for initialize" },
      { name: "d", ok: false, reason: "HTTP 500" },
    ],
  ]);
});

test("a list of probes that is none is refused, naming the variable", async () => {
  const run = await runNodeHost({ GATEWAY_PROBES: "[" }, ["probe"]);
  expect([await run.exited, run.output()]).toEqual([2, expect.stringContaining("GATEWAY_PROBES\n  it is not JSON\n")]);
});
