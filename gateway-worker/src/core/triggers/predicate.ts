import { isJsonObject, isSameScalar } from "@agent-env/protocol";
import { RE2JS } from "re2js";
import { z } from "zod";

const KINDS = ["regex", "equals", "exists"] as const;

/** A question to a value: exactly one of a pattern that is searched in it as text, a value that it equals, whether there is any. */
export const Predicate = z
  .looseObject({ regex: z.unknown(), equals: z.unknown(), exists: z.unknown() })
  .partial()
  .superRefine((value, context) => {
    const given = KINDS.filter((kind) => Object.hasOwn(value, kind));
    const problem = (message: string) => context.addIssue({ code: "custom", message });
    if (given.length !== 1) return problem("a predicate must have exactly one of regex, equals, exists");
    if (given[0] === "exists" && typeof value["exists"] !== "boolean") return problem("exists must be true or false");
    if (given[0] !== "regex") return undefined;
    if (typeof value["regex"] !== "string") return problem("regex must be a string");
    const fault = patternFault(value["regex"]);
    return fault === null ? undefined : problem(`regex ${JSON.stringify(value["regex"])} can't be read: ${fault}`);
  });
export type Predicate = z.infer<typeof Predicate>;

const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 1_000;

/** Whether a value is as a predicate asks. Patterns take time in proportion to the text, whatever they are. */
export function holds(predicate: Predicate, value: unknown): boolean {
  if (Object.hasOwn(predicate, "exists")) return predicate.exists === !isNothing(value);
  if (Object.hasOwn(predicate, "equals")) return isSame(predicate.equals, value);
  if (value === undefined || value === null) return false;
  return patternOf(String(predicate.regex)).matcher(textOf(value)).find();
}

/** A value as the text that patterns are searched in. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Null, nothing, an empty text or list. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Whether two JSON values are one, whatever the order of their keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, at) => isSame(each, b[at]));
  if (!isJsonObject(a) || !isJsonObject(b)) return isSameScalar(a, b);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

function patternOf(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = RE2JS.compile(source);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}

function patternFault(source: string): string | null {
  try {
    patternOf(source);
    return null;
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}
