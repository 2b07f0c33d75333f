import { foldName, type Problem } from "@agent-env/protocol";
import { type Entry, type Step, stepPath, type TaskEntry } from "./bundle.ts";
import { shownText, shownValue } from "./shown.ts";
import type { TaskOutput } from "./task-outputs.ts";

/**
 * Texts of a step whose type doesn't declare what it references, where they name something of the bundle or of the task:
 * nobody could replace such a name by its id (4-bundle §3.8).
 */
export function undeclaredRefs(
  entry: TaskEntry,
  step: Step,
  named: { readonly entries: readonly Entry[]; readonly outputs: readonly TaskOutput[] },
): Problem[] {
  const owners = new Map<string, string>();
  for (const { name, id, step: writer } of named.outputs) {
    for (const text of [name, id]) owners.set(foldName(text), `an output of step ${shownValue(writer.id)}`);
  }
  for (const { name, id, path } of named.entries) for (const text of [name, id]) owners.set(foldName(text), path);
  return texts(step, "").flatMap(({ text, place }) => {
    const owner = owners.get(foldName(text));
    if (owner === undefined) return [];
    const message = `${shownValue(text)} is the name of ${owner}, and the step type ${shownValue(step.type)} doesn't declare what it references, so no id can take its place: write another text, or have the plugin declare entityRefs`;
    return [{ code: "undeclared-ref", path: shownText(`${stepPath(entry, step)}: ${place}`), message: shownText(message) }];
  });
}

const NEVER_A_REFERENCE = /^(?:id|type|depends_on|.*_step_ids?)$/;

/** Every text in a value with its place: `args.files[0]`. */
function texts(value: unknown, place: string): { readonly text: string; readonly place: string }[] {
  if (typeof value === "string") return [{ text: value, place }];
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => texts(item, `${place}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    NEVER_A_REFERENCE.test(key) ? [] : texts(item, place === "" ? key : `${place}.${key}`),
  );
}
