import type { z } from "zod";
import { listed, shownValue } from "../bundle/shown.ts";
import { isTable } from "../bundle/toml.ts";
import { probably } from "../bundle/unknown-names.ts";
import { referenceIn } from "./reference.ts";
import { namesIn } from "./schema-walk.ts";
import { shownKey } from "./shown-key.ts";

/** One key that can't be read: `[build] concurrency`, and what is wrong with it. */
export type KeyProblem = { readonly at: string; readonly message: string };

/** What a schema of the configuration says against a value. One that stands for another is judged where it is used. */
export function problemsOf(schema: z.ZodType, value: unknown, above: readonly string[] = []): KeyProblem[] {
  const read = schema.safeParse(value);
  return read.success ? [] : read.error.issues.flatMap((issue) => issueProblems(issue, value, above));
}

function issueProblems(issue: z.core.$ZodIssue, value: unknown, above: readonly string[]): KeyProblem[] {
  const path = [...above, ...issue.path.map(String)];
  const at = path.length === 0 ? "the file" : shownKey(path);
  const found = valueAt(value, issue.path);
  const shown = shownValue(found);
  if (referenceIn(found) !== null && issue.code !== "invalid_type") return [];
  switch (issue.code) {
    case "unrecognized_keys": {
      const what = path.length === 0 ? "section" : "key";
      const known = namesIn(path);
      return [
        {
          at,
          message: `unknown ${what}${issue.keys.length === 1 ? "" : "s"} ${listed(issue.keys)}${probably(issue.keys, known)}: known are ${known.join(", ")}`,
        },
      ];
    }
    case "invalid_union":
      return unionProblems(issue, found, path);
    case "invalid_type":
      return [
        {
          at,
          message:
            found === undefined
              ? `is missing: it takes ${kindOf(issue.expected)}`
              : `expected ${kindOf(issue.expected)}, and found ${shown}`,
        },
      ];
    case "invalid_value":
      return [{ at, message: `expected ${issue.values.map((one) => JSON.stringify(one)).join(" or ")}, and found ${shown}` }];
    case "too_small":
      return [{ at, message: issue.origin === "string" ? "is empty" : `expected ${leastOf(issue)} or more, and found ${shown}` }];
    case "too_big":
      return [{ at, message: `expected ${issue.maximum} or less, and found ${shown}` }];
    default:
      return [{ at, message: issue.message }];
  }
}

function leastOf({ minimum, inclusive }: { readonly minimum: number | bigint; readonly inclusive?: boolean }): number | bigint {
  return inclusive === false ? Number(minimum) + 1 : minimum;
}

/** A table is judged as the choice that its `kind` names; anything else fits none of them. */
function unionProblems(issue: z.core.$ZodIssueInvalidUnion, found: unknown, path: readonly string[]): KeyProblem[] {
  const ofKind = issue.errors.find(
    (issues) =>
      isTable(found) &&
      issues.every((one) => one.path.length > 0 || one.code === "unrecognized_keys") &&
      !issues.some((one) => one.path[0] === "kind"),
  );
  if (ofKind !== undefined) return ofKind.flatMap((one) => issueProblems(one, found, path));
  const forms = issue.errors.flatMap((issues) => {
    const [first] = issues;
    if (first?.code === "invalid_value") return first.path.length === 0 ? first.values.map((one) => JSON.stringify(one)) : [];
    return [];
  });
  const names = namesIn(path);
  return [
    {
      at: shownKey(path),
      message: `expected ${[...forms, `a table of ${names.join(", ")}`].join(" or ")}, and found ${shownValue(found)}`,
    },
  ];
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  int: "a whole number",
  // Every number of the configuration counts something.
  number: "a whole number",
  array: "a list",
  object: "a table",
  record: "a table",
  boolean: "true or false",
};

function kindOf(expected: string): string {
  return KINDS[expected] ?? expected;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined), value);
}
