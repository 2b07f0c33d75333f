import { setIn } from "../report/printable.ts";
import type { RunResult } from "./result.ts";
import { belowThreshold } from "./result.ts";

/** What a person reads last: a line a task and an eval, what failed and why, what is still up (5-run §1). */
export function summaryText(result: RunResult, shownPath: string): string {
  const { tasks } = result;
  const passed = tasks.filter(({ outcome }) => outcome === "passed").length;
  const seconds = ((Date.parse(result.ended_at) - Date.parse(result.started_at)) / 1000).toFixed(1);
  const leftUp = tasks.flatMap((task) => task.left_up);
  return [
    "",
    tasksText(tasks),
    ...result.evals.map((entry) => `${entry.path}: ${entry.passed} of ${entry.tasks} passed`),
    ...(result.threshold === null ? [] : belowThreshold(tasks, result.threshold)),
    ...(leftUp.length === 0
      ? []
      : ["still up: agent-env gc removes it", ...leftUp.map(({ kind, name, reason }) => `  ${kind} ${name}: ${reason}`)]),
    `${passed} of ${tasks.length} tasks passed in ${seconds} s (${shownPath})`,
  ].join("\n");
}

/** A line a task, and below it what of it failed and why. */
export function tasksText(tasks: RunResult["tasks"]): string {
  return tasks.flatMap(taskLines).join("\n");
}

function taskLines(task: RunResult["tasks"][number]): string[] {
  const scores = Object.entries(task.scores).map(([step, score]) => `${step} ${score}`);
  return [
    `${task.path}: ${task.outcome}${scores.length === 0 ? "" : ` (${scores.join(", ")})`}, ${task.duration_s.toFixed(1)} s`,
    ...task.failed_steps.flatMap(({ step_id, error, why, next }) => [
      `  step ${JSON.stringify(step_id)}: ${setIn(error, "  ")}`,
      ...(why === null ? [] : [`    ${setIn(why, "    ")}`]),
      ...(next === null ? [] : [`    Next: ${setIn(next, "    ")}`]),
    ]),
  ];
}
