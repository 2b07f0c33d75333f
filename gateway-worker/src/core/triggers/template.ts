import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { parsePath, valueAt } from "./paths.ts";
import { textOf } from "./predicate.ts";

/** What templates can name: a call's arguments and result, and what a check has bound. */
export type Scope = { readonly args?: unknown; readonly result?: unknown; readonly bindings?: Readonly<Record<string, unknown>> };
/** A template whose value isn't there. */
export class NoValue extends Error {}

const PLACEHOLDER = /\$\{([^}]*)\}/g;
/** An optional value that isn't there: its key is dropped. */
const DROPPED = Symbol("dropped");

/** What is wrong with the templates in a value; null if nothing is. `names` are the roots that they may have. */
export function templateFault(value: unknown, names: readonly string[]): string | null {
  for (const text of textsIn(value)) {
    for (const [whole, inner = ""] of text.matchAll(PLACEHOLDER)) {
      const path = parsePath(inner.replace(/\?$/, ""));
      const root = /^[^.[]+/.exec(inner)?.[0].replace(/\?$/, "") ?? "";
      if (path === null || !names.includes(root)) return `${whole} is no template here: it may begin with ${names.join(", ")}`;
      if ((root === "args" || root === "result") && path.length < 2) return `${whole} names no part of ${root}`;
    }
    if (text.replace(PLACEHOLDER, "").includes("${")) return `${JSON.stringify(text)} holds a placeholder without an end`;
  }
  return null;
}

/** A value with its templates filled. One that is alone in its text keeps its type. Throws `NoValue`. */
export function filled(args: JsonObject, scope: Scope): JsonObject {
  const value = fill(args, scope);
  return isJsonObject(value) ? value : {};
}

function fill(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") return fillText(value, scope);
  if (Array.isArray(value)) return value.map((each) => fill(each, scope)).filter((each) => each !== DROPPED);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => [key, fill(each, scope)]);
  return Object.fromEntries(entries.filter(([, each]) => each !== DROPPED));
}

function fillText(text: string, scope: Scope): unknown {
  const [alone] = text.matchAll(PLACEHOLDER);
  if (alone !== undefined && alone[0] === text) return namedValue(alone[1] ?? "", scope) ?? DROPPED;
  let isDropped = false;
  const whole = text.replace(PLACEHOLDER, (_all, inner: string) => {
    const value = namedValue(inner, scope);
    isDropped ||= value === undefined || value === null;
    return textOf(value);
  });
  return isDropped ? DROPPED : whole;
}

function namedValue(inner: string, scope: Scope): unknown {
  const isOptional = inner.endsWith("?");
  const path = parsePath(isOptional ? inner.slice(0, -1) : inner);
  const value = path === null ? undefined : valueAt({ ...scope.bindings, args: scope.args, result: scope.result }, path);
  if ((value === undefined || value === null) && !isOptional) throw new NoValue(`\${${inner}} has no value`);
  return value;
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
