import type { Problem } from "@agent-env/protocol";
import { COMMON_FIELDS, everyStepProblems, retryFrom } from "../run/steps/every-step.ts";
import type { StepType } from "../run/steps/step.ts";
import { type Registry, stepType } from "../types/registry.ts";
import { type Step, stepPath, type TaskEntry } from "./bundle.ts";
import type { Warning } from "./checked.ts";
import type { ResolvedTask } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { dependencies, stepsBefore } from "./step-order.ts";
import { probably } from "./unknown-names.ts";

type Said = { readonly problems: readonly Problem[]; readonly warnings: readonly Warning[] };

/** What is wrong with a task beyond its references: its steps as their types read them, and how they hang together. */
export function checkTask({ entry, steps }: ResolvedTask, registry: Registry): Said {
  const said = steps.map((step) => checkStep(entry, step, registry));
  return {
    problems: [...said.flatMap(({ problems }) => problems), ...taskProblems(entry, steps)],
    warnings: [...said.flatMap(({ warnings }) => warnings), ...(steps.length === 0 ? [emptyTask(entry)] : [])],
  };
}

function emptyTask(entry: TaskEntry): Warning {
  return { path: shownText(entry.path), message: "has no step: a run of it does nothing" };
}

/** A field that nobody knows is a warning, but beside a problem it is part of it: it may be what is missing, written wrongly. */
function checkStep(entry: TaskEntry, step: Step, registry: Registry): Said {
  const type = stepType(registry, step.type);
  const path = shownText(stepPath(entry, step));
  const wrong = [...(type?.problems(step) ?? []), ...everyStepProblems(step)];
  const unknown = unknownFields(type, step);
  const idle = type?.idleFields(step) ?? [];
  const warnings = idle.length === 0 ? [] : [`${step.type} makes no use of ${listed(idle)} yet: only written`];
  const isRefused = wrong.length > 0;
  return {
    problems: (isRefused ? [...wrong, ...unknown] : []).map((message) => ({ code: "bad-step", path, message })),
    warnings: (isRefused ? warnings : [...unknown, ...warnings]).map((message) => ({ path, message })),
  };
}

function unknownFields(type: StepType | undefined, step: Step): string[] {
  const unknown = type?.unknownFields(step) ?? [];
  if (type === undefined || unknown.length === 0) return [];
  const near = probably(unknown, [...Object.keys(type.fields.shape), ...COMMON_FIELDS]);
  return [`${type.type} has no ${listed(unknown)}${near}: not used, and not written`];
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
