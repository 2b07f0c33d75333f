import { isJsonObject } from "@agent-env/protocol";

type Step = { readonly word: string } | { readonly index: number | "all" };
/** Where in a JSON value something is. */
export type Path = readonly Step[];

const PART = /^([^.[\]${}?\s]+)((?:\[(?:\d+|\*)\])*)$/;

/** The path in a text: words joined by dots, each with `[n]` or `[*]` behind it; null where it holds none. */
export function parsePath(text: string): Path | null {
  const steps: Step[] = [];
  for (const part of text.split(".")) {
    const match = PART.exec(part);
    if (match === null) return null;
    steps.push({ word: match[1] ?? "" });
    for (const [, index] of (match[2] ?? "").matchAll(/\[(\d+|\*)\]/g)) steps.push({ index: index === "*" ? "all" : Number(index) });
  }
  return steps;
}

/** What is at a path; undefined where nothing is. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if ("word" in step) found = isJsonObject(found) && Object.hasOwn(found, step.word) ? found[step.word] : undefined;
    else if (!Array.isArray(found)) return undefined;
    else if (step.index !== "all") found = found[step.index];
  }
  return found;
}
