import { AuthorError } from "./author-error.ts";

/** The most values that a completion may hold (MCP, completion). */
const MAX_VALUES = 100;

/** Proposes values for an argument of which `typed` is the beginning; `given` are the other arguments so far. */
export type Complete = (typed: string, given: Readonly<Record<string, string>>) => readonly string[] | Promise<readonly string[]>;
export type Completions = { readonly [argument: string]: Complete | undefined };

/** Throws an `AuthorError` for what is completed and isn't there. `what` names the place, `names` what it has. */
export function checkCompletions(what: string, names: readonly string[], offered: Completions | undefined): void {
  const stray = Object.keys(offered ?? {}).filter((name) => !names.includes(name));
  if (stray.length === 0) return;
  const quoted = (texts: readonly string[]) => texts.map((text) => JSON.stringify(text)).join(" and ");
  throw new AuthorError({
    what: `${what} completes ${quoted(stray)}`,
    why: names.length === 0 ? "it has nothing to complete" : `what it has is ${quoted(names)}`,
    next: "complete what is there, or leave `complete` out",
  });
}

/** A completion as MCP answers it; of an argument that none is offered for, an empty one. */
export async function completion(
  offered: Completions | undefined,
  argument: string,
  typed: string,
  given: Readonly<Record<string, string>>,
) {
  const complete = offered !== undefined && Object.hasOwn(offered, argument) ? offered[argument] : undefined;
  const values = (await complete?.(typed, given)) ?? [];
  return { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES };
}
