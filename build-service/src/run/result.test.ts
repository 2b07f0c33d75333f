import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { Interrupted } from "./interrupted.ts";
import { belowThreshold, keepResult, type RunResult, taskEntry } from "./result.ts";
import { summaryText } from "./summary.ts";
import type { TaskResult } from "./task-run.ts";

const task = (more: Partial<TaskResult> = {}): TaskResult => ({
  path: "tasks/a.json",
  id: "@local/x/a",
  instanceId: "a-1",
  outcome: "passed",
  scores: { verify: 1 },
  failedSteps: [],
  durationS: 1.25,
  deployments: ["a-aaaaaaaa"],
  kept: [],
  leftUp: [],
  ...more,
});

const run = (tasks: readonly TaskResult[], threshold: number | null = null): RunResult => ({
  format_version: 1,
  run_id: "run-1",
  bundle: "@local/x",
  started_at: "2026-01-01T00:00:00.000Z",
  ended_at: "2026-01-01T00:00:02.500Z",
  exit_code: 0,
  tasks: tasks.map((one) => taskEntry(one, 1)),
  evals: [],
  threshold,
});

describe("N8 the score threshold", () => {
  test.each([
    ["every score reaches it", { scores: { a: 1, b: 0.5 } }, 0.5, []],
    ["one is lower", { scores: { a: 1, b: 0.4 } }, 0.5, ["scored 0.4, below --min-score 0.5: tasks/a.json"]],
    ["there is no score", { scores: {} }, 0, ["unscored, below --min-score 0: tasks/a.json"]],
  ])("%s", (_, more, threshold, lines) => {
    expect(belowThreshold(run([task(more)]).tasks, threshold)).toEqual(lines);
  });
});

describe("the summary", () => {
  test("has a line a task, why a step failed, and what is still up", () => {
    const failed = task({
      path: "tasks/b.json",
      outcome: "failed",
      scores: {},
      failedSteps: [{ step: "deploy", error: new UserError({ what: "x: no", why: "two\nlines", next: "do it" }) }],
      leftUp: [{ kind: "container", name: "c", reason: "busy" }],
    });
    expect(summaryText(run([task(), failed]), "result.json")).toBe(
      `
tasks/a.json: passed (verify 1), 1.3 s
tasks/b.json: failed, 1.3 s
  step "deploy": x: no
    two
    lines
    Next: do it
still up: agent-env gc removes it
  container c: busy
1 of 2 tasks passed in 2.5 s (result.json)`,
    );
  });

  test("tells an interrupted step in a sentence, without a stack", () => {
    const { failed_steps } = taskEntry(task({ failedSteps: [{ step: "verify", error: new Interrupted("SIGINT") }] }), null);
    expect(failed_steps).toEqual([{ step_id: "verify", error: "interrupted by SIGINT", why: null, next: null }]);
  });
});

test("the last 50 runs are kept", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "agent-env-result-"));
  for (let n = 10; n < 62; n++) keepResult(stateDir, { ...run([task()]), run_id: `run-${n}` });
  const kept = readdirSync(join(stateDir, "runs")).sort();
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([50, "run-12", "run-61"]);
  rmSync(stateDir, { recursive: true });
});
