import { type Kind, nearName } from "@agent-env/protocol";
import type { Bundle } from "./bundle.ts";
import type { ResolvedEntry } from "./resolved.ts";

/** A name that nothing in the bundle has. A check doesn't know whether a store has it: a run looks there. */
export type StoreName = {
  /** Where it stands: `tasks/t.json: step 'deploy': env_id`. */
  readonly path: string;
  readonly kind: Kind;
  readonly id: string;
  /** What of the bundle it was probably meant to be. */
  readonly near: string | null;
};

/** Every reference to what only a store can have, in bundle order. */
export function storeNames(bundle: Pick<Bundle, "entries">, entries: readonly ResolvedEntry[]): StoreName[] {
  return entries.flatMap(({ refs }) =>
    refs
      .filter(({ target }) => target.in === "store")
      .map(({ at, target: { kind, id } }) => ({ path: at, kind, id, near: nearEntry(bundle, kind, id) })),
  );
}

/** The name of the bundle's entry of that kind which `id` was probably meant to be. */
export function nearEntry({ entries }: Pick<Bundle, "entries">, kind: Kind, id: string): string | null {
  return nearName(
    id,
    entries.filter((entry) => entry.kind === kind).map(({ name }) => name),
  );
}
