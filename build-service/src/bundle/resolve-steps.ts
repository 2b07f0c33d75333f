import type { Problem } from "@agent-env/protocol";
import { type Registry, stepType, stepTypeNames, whyUnavailable } from "../types/registry.ts";
import { type Step, stepPath, type TaskEntry } from "./bundle.ts";
import type { Lookup } from "./lookup.ts";
import { mapPath } from "./map-path.ts";
import { isStepOfOriginal } from "./original-steps.ts";
import { pinnedMessage, refuse } from "./ref-problems.ts";
import { idProblem } from "./ref-values.ts";
import type { ResolvedRef, ResolvedTask } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { isTable } from "./toml.ts";

type StepRefs = (ResolvedRef & { readonly step: Step })[];
type Resolving = {
  readonly entry: TaskEntry;
  readonly lookup: Lookup;
  readonly registry: Registry;
  readonly refs: StepRefs;
  readonly problems: Problem[];
};

/** A task with the references of its steps replaced by ids (4-bundle §3.2–3). */
export function resolveTask(entry: TaskEntry, lookup: Lookup, registry: Registry): ResolvedTask {
  const refs: StepRefs = [];
  const problems: Problem[] = [];
  const steps = entry.steps.map((step) => {
    problems.push(...dependencyProblems(entry, step));
    return resolveStep({ entry, lookup, registry, refs, problems }, step);
  });
  return { what: "task", entry, steps, refs, problems };
}

function resolveStep({ entry, lookup, registry, refs, problems }: Resolving, step: Step): Step {
  const type = stepType(registry, step.type);
  const path = shownText(stepPath(entry, step));
  if (type === undefined) {
    problems.push({ code: "unknown-type", path, message: unknownStep(step.type, registry) });
    return step;
  }
  let resolved: Readonly<Record<string, unknown>> = step;
  for (const { path: fieldPath, kind, types, versionPath } of type.entityRefs) {
    resolved = mapPath(resolved, fieldPath, (value, field, parent) => {
      // A value of another kind is the step type's own to refuse.
      if (typeof value !== "string" || value === "") return value;
      const at = `${path}: ${field}`;
      const wrong = idProblem(value);
      if (wrong !== null) return refuse(problems, "bad-ref", at, wrong, value);
      const found = lookup(value.normalize("NFC"), kind, types);
      if ("code" in found) return refuse(problems, found.code, at, found.message, value);
      const version = versionBeside(parent, versionPath);
      if (found.target.in === "bundle" && version !== null) return refuse(problems, "pinned", at, pinnedMessage(value), value);
      refs.push({ step, at, field, target: found.target, version, types });
      return found.target.id;
    });
  }
  return { ...resolved, id: step.id, type: step.type };
}

/** The version in the sibling field that the step type declares. */
function versionBeside(parent: Readonly<Record<string, unknown>>, versionPath: string | undefined): number | null {
  const version = versionPath === undefined ? undefined : parent[versionPath.slice(versionPath.lastIndexOf(".") + 1)];
  return typeof version === "number" && Number.isInteger(version) && version >= 1 ? version : null;
}

function unknownStep(type: string, registry: Registry): string {
  const why = whyUnavailable(registry, "step type", type);
  if (why === "" && isStepOfOriginal(type)) return `${shownValue(type)} is a step type of the original that isn't supported yet`;
  return `there is no step type ${shownValue(type)}: known are ${stepTypeNames(registry).join(", ")}${why}`;
}

/** `depends_on` as step ids: each element is an id or `{"task_step_id": id}`. Null when it isn't such a list. */
export function dependencies(step: Step): readonly string[] | null {
  const value = step["depends_on"];
  if (!Array.isArray(value)) return null;
  const ids = value.map((item: unknown) => (isTable(item) ? item["task_step_id"] : item));
  return ids.every((id) => typeof id === "string") ? ids : null;
}

function dependencyProblems(entry: TaskEntry, step: Step): Problem[] {
  const value = step["depends_on"];
  if (value === undefined || value === null) return [];
  const path = `${shownText(stepPath(entry, step))}: depends_on`;
  const ids = dependencies(step);
  if (ids === null) {
    return [{ code: "depends-on", path, message: `expected a list of step ids, and found ${shownValue(value)}` }];
  }
  return ids
    .filter((id) => !entry.steps.some((other) => other.id === id))
    .map((id) => ({
      code: "depends-on",
      path,
      message: `${shownValue(id)} is no step of this task: its steps are ${listed(entry.steps.map((other) => other.id))}`,
    }));
}
