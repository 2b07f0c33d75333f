import type { Field } from "./seam.ts";

const NONE: readonly string[] = [];

/** The first value of a field; `name` is in lower case. */
export function firstValue(fields: readonly Field[], name: string): string | undefined {
  for (const field of fields) if (field[0] === name) return field[1];
  return undefined;
}

/** The values of all fields of that name, in order. Every request asks for some that it hasn't. */
export function allValues(fields: readonly Field[], name: string): readonly string[] {
  return firstValue(fields, name) === undefined ? NONE : fields.filter((field) => field[0] === name).map((field) => field[1]);
}
