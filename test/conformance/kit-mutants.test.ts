import type { ConformanceReport } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { CARD_ANSWER_CHECKS } from "../../build-service/src/conformance/card-answer-checks.ts";
import { CHECKS } from "../../build-service/src/conformance/checks.ts";
import { checkConformance } from "../../build-service/src/conformance/conform.ts";
import { CARD_MUTANTS } from "../fixtures/mutants/card-mutants.ts";
import { DATA_MUTANTS } from "../fixtures/mutants/data-mutants.ts";
import { SEED } from "../fixtures/mutants/kiosk.ts";
import { MCP_MUTANTS } from "../fixtures/mutants/mcp-mutants.ts";
import { type Mutant, servedKiosk } from "../fixtures/mutants/mutation.ts";
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
  return checkConformance(url, {
    level: "recommended",
    readOnly: false,
    seed: [{ kind: "data", data: SEED }],
    headers: {},
    signal: new AbortController().signal,
  });
}

function failedIn(report: ConformanceReport): string[] {
  return outcomesIn(report, "failed");
}

function outcomesIn({ subjects }: ConformanceReport, wanted: "failed" | "skipped"): string[] {
  return subjects.flatMap(({ checks }) => checks).flatMap(({ id, outcome }) => (outcome === wanted ? [id] : []));
}
