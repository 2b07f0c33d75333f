import type { Problem } from "@agent-env/protocol";
import { stepType } from "../run/steps/registry.ts";
import { type Step, stepPath, type TaskEntry } from "./bundle.ts";
import type { Warning } from "./checked.ts";
import { dependencies } from "./resolve-steps.ts";
import type { ResolvedTask } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { isTable } from "./toml.ts";

/** What is wrong with a task beyond its references: its steps as their types read them, and how they hang together. */
export function checkTask({ entry, steps }: ResolvedTask): {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
} {
  const problems = steps.flatMap((step) => stepProblems(entry, step));
  const warnings = steps.flatMap((step) => {
    const unknown = stepType(step.type)?.unknownFields(step) ?? [];
    if (unknown.length === 0) return [];
    return [{ path: shownText(stepPath(entry, step)), message: `${step.type} has no ${listed(unknown)}: not used, and not written` }];
  });
  return { problems: [...problems, ...taskProblems(entry, steps)], warnings };
}

function stepProblems(entry: TaskEntry, step: Step): Problem[] {
  const path = shownText(stepPath(entry, step));
  const reasons = [...(stepType(step.type)?.problems(step) ?? []), ...commonProblems(step)];
  return reasons.map((message) => ({ code: "bad-step", path, message }));
}

function commonProblems(step: Step): string[] {
  const fail = step["fail_task_on_error"];
  const retry = step["retry_config"];
  return [
    ...(fail === undefined || fail === null || typeof fail === "boolean"
      ? []
      : [`fail_task_on_error: expected true or false, and found ${shownValue(fail)}`]),
    ...(retry === undefined || retry === null ? [] : retryProblems(retry)),
  ];
}

function retryProblems(retry: unknown): string[] {
  const shape = `retry_config: expected {"retry_from_step_id": "<step id>", "max_retries": <whole number from 0>}, and found ${shownValue(retry)}`;
  if (!isTable(retry)) return [shape];
  const from: unknown = retry["retry_from_step_id"] ?? retry["go_to_step_id"];
  const most: unknown = retry["max_retries"] ?? 1;
  const isSound = typeof from === "string" && typeof most === "number" && Number.isInteger(most) && most >= 0;
  return isSound ? [] : [shape];
}

function taskProblems(entry: TaskEntry, steps: readonly Step[]): Problem[] {
  const messages: string[] = [];
  const ids = steps.map(({ id }) => id);
  const repeated = [...new Set(ids.filter((id, index) => ids.indexOf(id) < index))];
  if (repeated.length > 0) messages.push(`step ids repeat: ${listed(repeated)}: give each step its own`);
  steps.forEach((step, index) => {
    const late = (dependencies(step) ?? []).filter((id) => ids.includes(id) && !ids.slice(0, index).includes(id));
    if (late.length > 0) messages.push(`step '${step.id}' depends on ${listed(late)}, and only earlier steps can be waited for`);
    const from = retryFrom(step);
    if (from !== null && from !== step.id && !ancestors(steps, index).has(from)) {
      messages.push(`step '${step.id}' retries from ${shownValue(from)}, which is neither itself nor a step that it depends on`);
    }
  });
  return messages.map((message) => ({ code: "bad-task", path: shownText(entry.path), message }));
}

function retryFrom(step: Step): string | null {
  const retry = step["retry_config"];
  if (!isTable(retry)) return null;
  const from: unknown = retry["retry_from_step_id"] ?? retry["go_to_step_id"];
  return typeof from === "string" ? from : null;
}

/** The steps that must have ended before the one at `index`: all earlier ones where it declares none. */
function ancestors(steps: readonly Step[], index: number): Set<string> {
  const found = new Set<string>();
  const visit = (at: number): void => {
    const step = steps[at];
    if (step === undefined) return;
    const earlier = steps.slice(0, at).map(({ id }) => id);
    for (const id of dependencies(step) ?? earlier) {
      if (found.has(id) || !earlier.includes(id)) continue;
      found.add(id);
      visit(earlier.lastIndexOf(id));
    }
  };
  visit(index);
  return found;
}
