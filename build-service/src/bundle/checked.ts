import type { Problem } from "@agent-env/protocol";
import type { Fields } from "../types/type.ts";
import type { Bundle } from "./bundle.ts";
import type { EntrySources } from "./entry-sources.ts";
import type { ResolvedEntity, ResolvedTask } from "./resolved.ts";

/** An entity whose type has judged it. */
export type CheckedEntity = {
  readonly resolved: ResolvedEntity;
  readonly fields: Fields;
  /** Null for an entity without a folder: an eval. */
  readonly sources: EntrySources | null;
  /** Its type, or its folder, had something to say against it: its fields may be incomplete. */
  readonly isRefused: boolean;
};

/** Something that a step says and that is not used: told, not refused. */
export type Warning = { readonly path: string; readonly message: string };

/** What the store-free stages say about a bundle, or about the part of it that a selection reaches. */
export type Checked = {
  readonly bundle: Bundle;
  readonly entities: readonly CheckedEntity[];
  readonly tasks: readonly ResolvedTask[];
  readonly warnings: readonly Warning[];
  readonly problems: readonly Problem[];
};

/** The entity of this bundle that has that id, or undefined. */
export function entityById({ entities }: Pick<Checked, "entities">, kind: string, id: string): CheckedEntity | undefined {
  return entities.find(({ resolved }) => resolved.entry.kind === kind && resolved.entry.id === id);
}
