import { foldName, type Kind, lastSegment, localIdProblem, type Problem } from "@agent-env/protocol";
import { type Registry, stepType } from "../types/registry.ts";
import { type Entry, type Step, stepPath, type TaskEntry } from "./bundle.ts";
import { mapPath } from "./map-path.ts";
import { shownText, shownValue } from "./shown.ts";

/** Something that a step of a task writes, under the task's id (4-bundle §3.7). */
export type TaskOutput = {
  /** As the task names it: `x`. */
  readonly name: string;
  /** `<task id>/x` */
  readonly id: string;
  readonly kind: Kind;
  /** Types of that kind that it can be; undefined = any. */
  readonly types: readonly string[] | undefined;
  readonly step: Step;
  /** Where its problems start. */
  readonly at: string;
};

/** What the steps of a task write, in their order. */
export function taskOutputs(entry: TaskEntry, registry: Registry): TaskOutput[] {
  return entry.steps.flatMap((step) => {
    const refs = stepType(registry, step.type)?.entityRefs ?? [];
    return refs.filter(({ role }) => role === "output").flatMap(({ path, kind, types }) => outputsAt({ entry, step, path, kind, types }));
  });
}

function outputsAt(place: {
  readonly entry: TaskEntry;
  readonly step: Step;
  readonly path: string;
  readonly kind: Kind;
  readonly types: readonly string[] | undefined;
}): TaskOutput[] {
  const { entry, step, path, kind, types } = place;
  const outputs: TaskOutput[] = [];
  mapPath(step, path, (value, field) => {
    if (typeof value !== "string" || value === "") return value;
    const name = value.normalize("NFC");
    outputs.push({ name, id: `${entry.id}/${name}`, kind, types, step, at: `${shownText(stepPath(entry, step))}: ${field}` });
    return value;
  });
  return outputs;
}

/** Names of outputs that can't be: no part of an id, or taken by something of the bundle or by another step. */
export function outputProblems(outputs: readonly TaskOutput[], entries: readonly Entry[]): Problem[] {
  return outputs.flatMap((output, index) => {
    const { name, kind, at } = output;
    const reason = nameReason(output);
    const entity = entries.find((entry) => entry.kind === kind && foldName(entry.name) === foldName(name));
    const other = outputs.slice(0, index).find((earlier) => earlier.kind === kind && foldName(earlier.name) === foldName(name));
    const message =
      reason !== null
        ? `${shownValue(name)} can't be the name of an output: ${reason}`
        : entity !== undefined
          ? `${shownValue(name)} is also ${entity.path} of this bundle: give the output another name`
          : other !== undefined
            ? `${shownValue(name)} is also an output of step ${shownValue(other.step.id)}: give one of them another name`
            : null;
    return message === null ? [] : [{ code: "output", path: at, message }];
  });
}

function nameReason({ name, id, kind }: TaskOutput): string | null {
  if (name.startsWith("@")) return "it is an id, and an output gets its task's id before its name";
  if (kind === "artifact" && lastSegment(name).includes("__")) return '"__" is kept for the ids of what is made along with an artifact';
  return localIdProblem(id);
}

/** The output that a name or id means, of any kind; undefined when it is none of this task's. */
export function outputNamed(outputs: readonly TaskOutput[], text: string, kind: Kind): TaskOutput | undefined {
  const named = outputs.filter(({ name, id }) => name === text || id === text);
  return named.find((output) => output.kind === kind) ?? named[0];
}
