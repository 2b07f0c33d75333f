import type { Kind, Problem } from "@agent-env/protocol";
import { type Registry, stepType, stepTypeNames, whyUnavailable } from "../types/registry.ts";
import { type Entry, type Step, stepPath, type TaskEntry } from "./bundle.ts";
import { expected, type Found, type Lookup } from "./lookup.ts";
import { mapPath } from "./map-path.ts";
import { isStepOfOriginal } from "./original-steps.ts";
import { pinnedMessage, pinnedOutput, refuse } from "./ref-problems.ts";
import { idProblem } from "./ref-values.ts";
import type { ResolvedRef, ResolvedTask } from "./resolved.ts";
import { listed, shownText, shownValue } from "./shown.ts";
import { dependencies, stepsBefore } from "./step-order.ts";
import { outputNamed, outputProblems, type TaskOutput, taskOutputs } from "./task-outputs.ts";
import { undeclaredRefs } from "./undeclared-refs.ts";
import { probably } from "./unknown-names.ts";

type Resolving = {
  readonly entry: TaskEntry;
  readonly lookup: Lookup;
  readonly registry: Registry;
  /** The bundle's entries; none for a task by itself. */
  readonly entries: readonly Entry[];
};
type ResolvingStep = Resolving & {
  readonly outputs: readonly TaskOutput[];
  readonly before: ReadonlyMap<string, ReadonlySet<string>>;
  readonly refs: (ResolvedRef & { readonly step: Step })[];
  readonly problems: Problem[];
};

/** A task with the references of its steps replaced by ids (4-bundle §3.2–3, §3.7–8). */
export function resolveTask(resolving: Resolving): ResolvedTask {
  const { entry, registry, entries } = resolving;
  const outputs = taskOutputs(entry, registry);
  const problems = outputProblems(outputs, entries);
  const all: ResolvingStep = { ...resolving, outputs, before: stepsBefore(entry.steps), refs: [], problems };
  const steps = entry.steps.map((step) => {
    problems.push(...dependencyProblems(entry, step));
    return resolveStep(all, step);
  });
  return { what: "task", entry, steps, refs: all.refs, outputs, problems };
}

function resolveStep(all: ResolvingStep, step: Step): Step {
  const { entry, registry, outputs, entries, refs, problems } = all;
  const type = stepType(registry, step.type);
  const path = shownText(stepPath(entry, step));
  if (type === undefined) {
    problems.push({ code: "unknown-type", path, message: unknownStep(step.type, registry) });
    return step;
  }
  if (type.entityRefs === null) {
    problems.push(...undeclaredRefs(entry, step, { entries, outputs }));
    return step;
  }
  let resolved: Readonly<Record<string, unknown>> = step;
  for (const ref of type.entityRefs) {
    const types = ref.typesWith === undefined || typeof step[ref.typesWith] === "string" ? ref.types : undefined;
    resolved = mapPath(resolved, ref.path, (value, field, parent) => {
      // A value of another kind is the step type's own to refuse.
      if (typeof value !== "string" || value === "") return value;
      if (ref.role === "output") return `${entry.id}/${value.normalize("NFC")}`;
      const at = `${path}: ${field}`;
      const found = target(all, { step, text: value.normalize("NFC"), kind: ref.kind, types });
      if ("code" in found) return refuse(problems, found.code, at, found.message, value);
      const version = versionBeside(parent, ref.versionPath);
      if (found.target.in === "bundle" && version !== null) return refuse(problems, "pinned", at, pinnedMessage(value), value);
      if (found.target.in === "task" && version !== null) return refuse(problems, "pinned", at, pinnedOutput(value), value);
      refs.push({ step, at, field, target: found.target, version, types });
      return found.target.id;
    });
  }
  return { ...resolved, id: step.id, type: step.type };
}

type Wanted = { readonly step: Step; readonly text: string; readonly kind: Kind; readonly types: readonly string[] | undefined };

/** What a text names: an output of the same task first, then what the bundle or the store has (4-bundle §3.4). */
function target({ outputs, before, lookup }: ResolvingStep, { step, text, kind, types }: Wanted): Found {
  const output = outputNamed(outputs, text, kind);
  if (output === undefined) {
    const wrong = idProblem(text);
    return wrong === null ? lookup(text, kind, types) : { code: "bad-ref", message: wrong };
  }
  const fits = output.kind === kind && (types === undefined || (output.types?.some((type) => types.includes(type)) ?? true));
  const shown = shownValue(text);
  if (!fits) {
    const message = `${shown} is this task's ${output.kind}, written by step ${shownValue(output.step.id)}, and the field takes ${expected(kind, types)}`;
    return { code: "wrong-kind", message };
  }
  if (before.get(step.id)?.has(output.step.id) !== true) {
    const writer = shownValue(output.step.id);
    return {
      code: "output",
      message: `${shown} is written by step ${writer}, and this step doesn't run after it: let it depend on ${writer}`,
    };
  }
  return { target: { in: "task", kind, id: output.id } };
}

/** The version in the sibling field that the step type declares. */
function versionBeside(parent: Readonly<Record<string, unknown>>, versionPath: string | undefined): number | null {
  const version = versionPath === undefined ? undefined : parent[versionPath.slice(versionPath.lastIndexOf(".") + 1)];
  return typeof version === "number" && Number.isInteger(version) && version >= 1 ? version : null;
}

function unknownStep(type: string, registry: Registry): string {
  const why = whyUnavailable(registry, "step type", type);
  if (why === "" && isStepOfOriginal(type)) return `${shownValue(type)} is a step type of the original that isn't supported yet`;
  const known = stepTypeNames(registry);
  return `there is no step type ${shownValue(type)}${probably([type], known)}: known are ${known.join(", ")}${why}`;
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
