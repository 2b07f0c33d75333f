import { type ConformanceReport, METHOD_HEADER } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { CARD_ANSWER_CHECKS } from "../../build-service/src/conformance/card-answer-checks.ts";
import { CHECKS } from "../../build-service/src/conformance/checks.ts";
import { checkedByKit, outcomesIn } from "../fixtures/conformance-kit.ts";
import { recorder } from "../fixtures/gateway/recorder.ts";
import { CARD_MUTANTS } from "../fixtures/mutants/card-mutants.ts";
import { DATA_MUTANTS } from "../fixtures/mutants/data-mutants.ts";
import { SEED } from "../fixtures/mutants/kiosk.ts";
import { MCP_MUTANTS } from "../fixtures/mutants/mcp-mutants.ts";
import { at, type Mutant, servedKiosk } from "../fixtures/mutants/mutation.ts";
import { SITE_MUTANTS } from "../fixtures/mutants/site-mutants.ts";

const GROUPS: readonly (readonly [string, readonly Mutant[]])[] = [
  ["card", CARD_MUTANTS],
  ["data plane", DATA_MUTANTS],
  ["mcp, roles and clock", MCP_MUTANTS],
  ["website and session", SITE_MUTANTS],
];

test("W5 the kiosk passes every check that it can be asked", async () => {
  const report = await checked(await servedKiosk());
  expect({ failed: failedIn(report), skipped: outcomesIn(report, "skipped"), conforms: report.conforms }).toEqual({
    failed: [],
    skipped: ["mcp-undeclared", "role-rules", "role-rule-errors"],
    conforms: true,
  });
});

test("W5 a kiosk that keeps roles from its tools by itself passes, its hidden tool included", async () => {
  const report = await checked(await servedKiosk({ access: true }));
  expect({ failed: failedIn(report), skipped: outcomesIn(report, "skipped") }).toEqual({ failed: [], skipped: ["mcp-undeclared"] });
});

test("W5 a kiosk that speaks the modern era alone passes", async () => {
  const refused = () => Response.json({ jsonrpc: "2.0", id: null, error: { code: -32022, message: "unsupported" } }, { status: 400 });
  const answer = at("POST /mcp", (request, serve) => (request.headers.has(METHOD_HEADER) ? serve(request) : refused()));
  const report = await checked(await servedKiosk({ answer }));
  expect({ failed: failedIn(report), skipped: outcomesIn(report, "skipped") }).toEqual({
    failed: [],
    skipped: ["mcp-notification", "mcp-session", "mcp-undeclared", "role-rules", "role-rule-errors"],
  });
});

test("W5 a server that answers no more isn't waited for by every check", async () => {
  const server = await recorder({
    card: () => ({ status: 200, body: { name: "gone", capabilities: { tools: null } } }),
    early: (request) => {
      request.socket.destroy();
      return true;
    },
  });
  const report = await checked(server.url);
  await server.close();
  const reasons = report.subjects.flatMap(({ checks }) => checks).flatMap((check) => (check.outcome === "skipped" ? [check.reason] : []));
  expect(failedIn(report)).toHaveLength(3);
  expect(reasons.at(-1)).toBe("it doesn't answer any more");
});

test("W5 an endpoint may redirect within its server", async () => {
  const redirected = (request: Request) => new Response(null, { status: 307, headers: { location: `${request.url}/` } });
  const report = await checked(await servedKiosk({ answer: at("POST /mcp", redirected) }));
  expect(report.subjects[0]?.checks.find(({ id }) => id === "mcp")).toMatchObject({ outcome: "passed" });
});

describe.each(GROUPS)("W5 a mutant fails the checks of its fault, and no others: %s", (_group, mutants) => {
  test.each(mutants)("%s: %j", async (_what, fails, mutation) => {
    const report = await checked(await servedKiosk(mutation));
    expect(failedIn(report)).toEqual([...fails]);
  });
});

test("W5 each check of a server has a mutant that fails it", () => {
  const tried = new Set(GROUPS.flatMap(([, mutants]) => mutants.flatMap(([, fails]) => fails)));
  const ofServers = [...CARD_ANSWER_CHECKS, ...CHECKS.filter(({ on = ["server"] }) => on.includes("server"))];
  expect(ofServers.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([]);
});

function checked(url: string): Promise<ConformanceReport> {
  return checkedByKit(url, { seed: [{ kind: "data", data: SEED }] });
}

function failedIn(report: ConformanceReport): string[] {
  return outcomesIn(report, "failed");
}
