import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { parsePath, valueAt } from "./paths.ts";
import { holds, isNothing, type Predicate } from "./predicate.ts";
import type { Said } from "./said.ts";
import { type Check, type CheckStep, stepsOf } from "./spec.ts";
import { filled, type Scope } from "./template.ts";

/** Calls a tool for a trigger. */
export type Ask = (tool: string, args: JsonObject) => Promise<Said>;

/** Whether a check holds now. A call that fails, and a binding to nothing, are no. Throws `NoValue`. */
export async function isTrue(check: Check, scope: Scope, ask: Ask): Promise<boolean> {
  const bindings: Record<string, unknown> = { ...scope.bindings };
  for (const step of stepsOf(check)) {
    const said = await ask(step.tool, filled(step.args ?? {}, { ...scope, bindings }));
    if (said.isError) return false;
    const value = extracted(step, said);
    if (step.bind !== undefined) {
      if (isNothing(value)) return false;
      bindings[step.bind] = value;
    }
    if (step.predicate !== undefined && !holds(step.predicate, value)) return false;
  }
  return true;
}

function extracted({ extract }: CheckStep, { value, text }: Said): unknown {
  if (extract === undefined) return text;
  if (typeof extract === "string") return atPath(value, extract);
  const list = atPath(value, extract.path);
  const { match, take } = extract;
  if (match === undefined) return take === undefined ? list : atPath(list, take);
  const found = (Array.isArray(list) ? list : []).find((each) => matches(each, match));
  return take === undefined ? found : atPath(found, take);
}

/** Whether every predicate holds for what is at its path. */
export function matches(value: unknown, predicates: Readonly<Record<string, Predicate>>): boolean {
  return Object.entries(predicates).every(([path, predicate]) => holds(predicate, atPath(value, path)));
}

/** Whether a call is as `where` asks: `args.…`, `result.…`, or an argument. */
export function isWhere(where: Readonly<Record<string, Predicate>> | undefined, call: { args: unknown; result: unknown }): boolean {
  return Object.entries(where ?? {}).every(([key, predicate]) => {
    const isRooted = /^(args|result)(?=[.[])/.test(key);
    return holds(predicate, isRooted ? atPath(call, key) : isJsonObject(call.args) ? call.args[key] : undefined);
  });
}

function atPath(value: unknown, text: string): unknown {
  const path = parsePath(text);
  return path === null ? undefined : valueAt(value, path);
}
