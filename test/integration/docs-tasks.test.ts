import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isStepOfOriginal } from "../../build-service/src/bundle/original-steps.ts";
import { BUILT_IN_STEPS } from "../../build-service/src/run/steps/built-in.ts";
import { Aggregator } from "../../build-service/src/run/steps/field-schemas.ts";
import { Row } from "../../build-service/src/run/verifiers/rows.ts";
import { agentEnv, NO_DOCKER } from "../fixtures/agent-env.ts";
import { DocSession, docDeeds } from "../fixtures/doc-session.ts";
import { temporaryFolder, writeTree } from "../fixtures/folder.ts";

const text = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const PAGE = text("docs/tasks-and-verifiers.md");

/** The cells of the table below that heading, or of the table with that head. */
function rowsBelow(start: string): string[][] {
  const at = PAGE.indexOf(start);
  if (at < 0) throw new Error(`the page has no ${start}`);
  const table = /(?:^\|.*\n)+/m.exec(PAGE.slice(at));
  const [, , ...rows] = table?.[0].trim().split("\n") ?? [];
  return rows.map((row) => row.slice(2, -2).split(" | "));
}
const names = (cells: readonly string[][]): string[] =>
  cells.flatMap(([cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));

test("docs/tasks-and-verifiers.md: its files are a bundle, and its commands print what it shows", { timeout: 300_000 }, async () => {
  using home = temporaryFolder();
  const session = new DocSession(home.path, NO_DOCKER);
  const exitCodes: unknown[] = [];
  try {
    for (const deed of docDeeds("tasks-and-verifiers.md")) {
      const compared = await session.does(deed);
      if (compared === null) continue;
      exitCodes.push(compared.exitCode);
      expect(compared.said).toBe(compared.shown);
    }
  } finally {
    await session.end();
  }
  expect(exitCodes).toEqual([0, 0]);
});

test("docs/tasks-and-verifiers.md lists every step type, and says of each whether it runs", () => {
  const rows = rowsBelow("| type | does | today |");
  expect(names(rows)).toEqual(BUILT_IN_STEPS.map(({ type }) => type));
  const runs = BUILT_IN_STEPS.filter((step) => !step.notRunYet({ type: step.type }).includes(`a step of type ${step.type}`));
  expect(rows.filter(([, , today]) => today !== "checked and stored").map(([type]) => type)).toEqual(runs.map(({ type }) => `\`${type}\``));
  expect(rows.filter(([, , today]) => !/^(runs|runs, .*|checked and stored)$/.test(today ?? ""))).toEqual([]);
});

test("docs/tasks-and-verifiers.md names the original's step types that are refused", () => {
  const [paragraph = ""] = /^These step types of the Python original[\s\S]*?\. A \[plugin\]/m.exec(PAGE) ?? [];
  const named = [...paragraph.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !isStepOfOriginal(name))).toEqual([]);
  const refused = [...text("build-service/src/bundle/original-steps.ts").matchAll(/^ {2}"(\w+)",$/gm)].map(([, name]) => name);
  expect(named).toEqual(refused);
});

test.each(["deploy_env", "load_artifact", "env_outcome_verifier"])("docs/tasks-and-verifiers.md has each field of %s", (type) => {
  const step = BUILT_IN_STEPS.find((one) => one.type === type);
  expect(names(rowsBelow(`### \`${type}\`\n`)).sort()).toEqual(Object.keys(step?.fields.shape ?? {}).sort());
});

test("docs/tasks-and-verifiers.md has each key of a row, each aggregator, and each key of result.json", async () => {
  expect(names(rowsBelow("A row:\n")).sort()).toEqual(Object.keys(Row.shape).sort());
  expect(names(rowsBelow("| `score_aggregator` | score |"))).toEqual(Aggregator.options);
  const keys = rowsBelow("Its keys:\n");
  using bundle = temporaryFolder();
  writeTree(
    bundle.path,
    Object.fromEntries(docDeeds("tasks-and-verifiers.md").flatMap((deed) => ("file" in deed ? [[deed.file, deed.text]] : []))),
  );
  writeTree(bundle.path, {
    "envs/mail/server.ts": 'import { environmentCard } from "@agent-env/sdk";\nenvironmentCard({ name: "mail" });\nprocess.exit(1);\n',
  });
  const cli = agentEnv(NO_DOCKER, bundle.path);
  const { out, exitCode } = await cli.run("run", ".", "--sandbox", "process", "--json");
  cli.remove();
  const result = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "");
  expect({ exitCode, outcome: result.tasks[0].outcome, kind: result.kind }).toEqual({ exitCode: 1, outcome: "failed", kind: "result" });
  expect(names(keys).sort()).toEqual(
    Object.keys(result)
      .filter((key) => key !== "at" && key !== "kind")
      .sort(),
  );
  for (const list of ["tasks", "evals"] as const) {
    const [, holds = ""] = keys.find(([key]) => key === `\`${list}\``) ?? [];
    expect(names([[holds]]).sort()).toEqual(Object.keys(result[list][0]).sort());
  }
});

test("docs/tasks-and-verifiers.md tells each outcome that a task can have", () => {
  const [, union = ""] = /^export type TaskOutcome = (.*);$/m.exec(text("build-service/src/run/task-run.ts")) ?? [];
  expect(names(rowsBelow("| outcome of a task |"))).toEqual([...union.matchAll(/"([^"]+)"/g)].map(([, outcome]) => outcome));
});
