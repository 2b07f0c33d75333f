import type { Problem } from "@agent-env/protocol";
import { everyStepProblems, retryFrom } from "../run/steps/every-step.ts";
import { type Registry, stepType } from "../types/registry.ts";
import { type Step, stepPath, type TaskEntry } from "./bundle.ts";
import type { Warning } from "./checked.ts";
import type { ResolvedTask } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { dependencies, stepsBefore } from "./step-order.ts";

/** What is wrong with a task beyond its references: its steps as their types read them, and how they hang together. */
export function checkTask(
  { entry, steps }: ResolvedTask,
  registry: Registry,
): {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
} {
  const problems = steps.flatMap((step) => stepProblems(entry, step, registry));
  const warnings = steps.flatMap((step) => stepWarnings(entry, step, registry));
  return { problems: [...problems, ...taskProblems(entry, steps)], warnings };
}

function stepWarnings(entry: TaskEntry, step: Step, registry: Registry): Warning[] {
  const type = stepType(registry, step.type);
  const path = shownText(stepPath(entry, step));
  const unknown = type?.unknownFields(step) ?? [];
  const idle = type?.idleFields(step) ?? [];
  return [
    ...(unknown.length === 0 ? [] : [{ path, message: `${step.type} has no ${listed(unknown)}: not used, and not written` }]),
    ...(idle.length === 0 ? [] : [{ path, message: `${step.type} makes no use of ${listed(idle)} yet: only written` }]),
  ];
}

function stepProblems(entry: TaskEntry, step: Step, registry: Registry): Problem[] {
  const path = shownText(stepPath(entry, step));
  const reasons = [...(stepType(registry, step.type)?.problems(step) ?? []), ...everyStepProblems(step)];
  return reasons.map((message) => ({ code: "bad-step", path, message }));
}

function taskProblems(entry: TaskEntry, steps: readonly Step[]): Problem[] {
  const messages: string[] = [];
  const ids = steps.map(({ id }) => id);
  const repeated = [...new Set(ids.filter((id, index) => ids.indexOf(id) < index))];
  if (repeated.length > 0) messages.push(`step ids repeat: ${listed(repeated)}: give each step its own`);
  steps.forEach((step, index) => {
    const late = (dependencies(step) ?? []).filter((id) => ids.includes(id) && !ids.slice(0, index).includes(id));
    if (late.length > 0) messages.push(`step '${step.id}' depends on ${listed(late)}, and only earlier steps can be waited for`);
  });
  const before = stepsBefore(steps);
  for (const step of steps) {
    const from = retryFrom(step);
    if (from === null || from === step.id || before.get(step.id)?.has(from)) continue;
    messages.push(`step '${step.id}' retries from ${shownValue(from)}, which is neither the step itself nor one that it runs after`);
  }
  return messages.map((message) => ({ code: "bad-task", path: shownText(entry.path), message: shownText(message) }));
}
