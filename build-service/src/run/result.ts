import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { systemError } from "../report/system-error.ts";
import { Interrupted } from "./interrupted.ts";
import type { TaskResult } from "./task-run.ts";

/** Runs whose results are kept in the state folder (5-run §10.3). */
const KEPT_RUNS = 50;

/** `result.json`, and the last line of `run --json`. Its keys are a contract (5-run §10.4). */
export type RunResult = {
  readonly format_version: 1;
  readonly run_id: string;
  readonly bundle: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly exit_code: number;
  readonly tasks: readonly {
    readonly path: string;
    readonly id: string;
    readonly version: number | null;
    readonly instance_id: string;
    readonly outcome: string;
    readonly scores: Readonly<Record<string, number>>;
    readonly failed_steps: readonly {
      readonly step_id: string;
      readonly error: string;
      readonly why: string | null;
      readonly next: string | null;
    }[];
    readonly duration_s: number;
    readonly deployments: readonly string[];
    readonly left_up: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
  }[];
  readonly evals: readonly { readonly path: string; readonly id: string; readonly passed: number; readonly tasks: number }[];
  readonly threshold: number | null;
};

/** A task's result as it is written down. `version` is the stored task's. */
export function taskEntry(result: TaskResult, version: number | null): RunResult["tasks"][number] {
  return {
    path: result.path,
    id: result.id,
    version,
    instance_id: result.instanceId,
    outcome: result.outcome,
    scores: result.scores,
    failed_steps: result.failedSteps.map(({ step, error }) => ({ step_id: step, ...errorText(error) })),
    duration_s: result.durationS,
    deployments: result.deployments,
    left_up: result.leftUp,
  };
}

function errorText(thrown: unknown): { error: string; why: string | null; next: string | null } {
  const error = systemError(thrown) ?? thrown;
  if (error instanceof Interrupted) return { error: error.message, why: null, next: null };
  if (error instanceof UserError) return { error: error.message, why: error.why, next: error.next };
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error), why: null, next: null };
}

/** Why the run as a whole did not reach `--min-score`, a line a task; empty when it did (5-run §11.1). */
export function belowThreshold(tasks: RunResult["tasks"], threshold: number): string[] {
  return tasks.flatMap((task) => {
    const scores = Object.values(task.scores);
    if (scores.length === 0) return [`unscored, below --min-score ${threshold}: ${task.path}`];
    const lowest = Math.min(...scores);
    return lowest < threshold ? [`scored ${lowest}, below --min-score ${threshold}: ${task.path}`] : [];
  });
}

/** Writes `runs/<run id>/result.json` in the state folder, whole or not at all, and forgets the oldest runs. */
export function keepResult(stateDir: string, result: RunResult): string {
  const runs = join(stateDir, "runs");
  const folder = join(runs, result.run_id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "result.json");
  writeFileSync(`${path}.new`, `${JSON.stringify(result, null, 2)}\n`);
  renameSync(`${path}.new`, path);
  for (const old of readdirSync(runs).sort().slice(0, -KEPT_RUNS)) rmSync(join(runs, old), { recursive: true });
  return path;
}
