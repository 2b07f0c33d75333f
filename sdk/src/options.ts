import { nearName } from "@agent-env/protocol";
import { AuthorError } from "./author-error.ts";

/** Every option of a type by its name, none more: a type gets a new one only together with this. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws an `AuthorError` for options that nobody reads: types are stripped when a program runs, so a typing error would be
 * silence. `what` names the place.
 */
export function checkOptions(what: string, given: object, takes: Readonly<Record<string, true>>): void {
  const names = Object.keys(takes);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(takes, name));
  if (unknown.length === 0) return;
  throw new AuthorError({
    what: `${what}: unknown ${unknown.length === 1 ? "option" : "options"} ${unknown.map((name) => shown(name, names)).join(" and ")}`,
    why: `the options are ${names.map((name) => JSON.stringify(name)).join(", ")}`,
    next: "write one of these, or leave it out",
  });
}

/**
 * The same for a declaration that may hold other members: refuses only one that reads as a typing error of a known name which
 * isn't there itself.
 */
export function checkNearOptions(what: string, given: object, known: Readonly<Record<string, true>>): void {
  const absent = Object.keys(known).filter((name) => !Object.hasOwn(given, name));
  const near = Object.entries(given).filter(([name]) => !Object.hasOwn(known, name) && nearName(name, absent) !== null);
  if (near.length > 0) checkOptions(what, Object.fromEntries(near), known);
}

function shown(name: string, known: readonly string[]): string {
  const near = nearName(name, known);
  return `${JSON.stringify(name)}${near === null ? "" : ` (probably ${JSON.stringify(near)})`}`;
}
