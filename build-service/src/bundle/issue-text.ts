import type { z } from "zod";
import { shownValue } from "./shown.ts";

type Issue = z.core.$ZodIssue;

/**
 * What a schema has against a value, in a sentence that starts with the field: `ttl_seconds: expected 60 or more, and found
 * 5`. `raw` is the whole value that was read, `whole` what the message calls it when no field of it is to blame.
 */
export function issueText(issue: Issue, raw: unknown, whole = "the step"): string {
  const inner = closest(issue, raw);
  const field = fieldName(inner.path) || whole;
  if (inner.code === "custom") return `${field}: ${inner.message}`;
  if (inner.code === "unrecognized_keys") return `${field}: has no ${inner.keys.map(shownValue).join(", ")}`;
  const found = valueAt(raw, inner.path);
  return found === undefined
    ? `${field} is missing: it takes ${expected(inner)}`
    : `${field}: expected ${expected(inner)}, and found ${shownValue(found)}`;
}

/** `artifacts[0].id` */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

/** Of a value that may have several shapes and has the outer form of one: what is wrong with it as that one. */
function closest(issue: Issue, raw: unknown): Issue {
  if (issue.code !== "invalid_union") return issue;
  const [deepest] = issue.errors.find((branch) => branch.every(({ path }) => path.length > 0)) ?? [];
  return deepest === undefined ? issue : closest({ ...deepest, path: [...issue.path, ...deepest.path] }, raw);
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  map: "an object",
};

function expected(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return KINDS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.map(shownValue).join(" or ");
    case "invalid_format":
      return `a text of the form ${issue.pattern ?? issue.format}`;
    case "too_small":
      return atLeast(issue.origin, Number(issue.minimum), issue.inclusive === true);
    case "too_big":
      return atMost(issue.origin, Number(issue.maximum), issue.inclusive === true);
    case "invalid_union":
      if (issue.errors.length === 0) return oneOfTypes(issue);
      return [...new Set(issue.errors.flatMap(([first]) => (first === undefined ? [] : [expected(first)])))].join(" or ");
    default:
      return issue.message;
  }
}

/** What tells the shapes of a value apart may be one of. */
function oneOfTypes(issue: object): string {
  const options: unknown = "options" in issue ? issue.options : [];
  return Array.isArray(options) ? options.map(shownValue).join(" or ") : "another value";
}

function atLeast(origin: string, least: number, isInclusive: boolean): string {
  if (origin === "string") return least === 1 ? "a text that isn't empty" : `${least} characters or more`;
  if (origin === "array") return least === 1 ? "a list that isn't empty" : `${least} elements or more`;
  return isInclusive ? `${least} or more` : `more than ${least}`;
}

function atMost(origin: string, most: number, isInclusive: boolean): string {
  if (origin === "string") return `${most} characters or less`;
  if (origin === "array") return `${most} elements or less`;
  return isInclusive ? `${most} or less` : `less than ${most}`;
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined), raw);
}
