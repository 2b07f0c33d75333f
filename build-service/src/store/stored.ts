import { AnyRecord, type Kind, UserError } from "@agent-env/protocol";
import { readJson } from "./json.ts";
import type { Store } from "./store.ts";
import { latestVersion, readVersion } from "./versions.ts";

/** What of an id is asked for: `version` null is its latest. */
export type StoredQuestion = { readonly kind: Kind; readonly ids: readonly string[]; readonly version: number | null };

/**
 * The stored version that a person asks for, of the first of `ids` that is stored. Throws a UserError that says what there is
 * when none is, or not in that version.
 */
export async function storedRecord(store: Store, { kind, ids, version }: StoredQuestion): Promise<AnyRecord> {
  for (const id of ids) {
    const latest = await latestVersion(store, kind, id);
    if (latest === 0) continue;
    const record = version !== null && version > latest ? null : await readVersion(store, kind, id, version ?? latest);
    if (record !== null) return record;
    if (version === null || version <= latest) {
      throw new UserError({
        what: `${id}: the record of v${version ?? latest} is gone from the store`,
        why: "its number is taken, and its bytes are not there: something else removed them",
        next: "run the bundle that holds it, or put it again, which writes another version",
      });
    }
    throw new UserError({
      what: `${id}: there is no v${version} of this ${kind} in the store`,
      why: `its latest is v${latest}`,
      next: "leave out --version, or name one from 1 to that",
    });
  }
  throw new UserError({
    what: `${ids.at(-1)}: no such ${kind} in the store`,
    why:
      ids.length === 1
        ? "nothing has written it"
        : `nothing has written it, nor ${ids.slice(0, -1).join(", ")}, which has that name in the bundle here`,
    next: "run the bundle that holds it, or put it: agent-env --help",
  });
}

/** The latest version of every id of a kind, by id. */
export async function latestRecords(store: Store, kind: Kind): Promise<AnyRecord[]> {
  const records: AnyRecord[] = [];
  // Both may be the same.
  for (const side of new Set([store.local, store.configured])) {
    for (const { key } of await side.objects.list(`records/${kind}/`)) {
      const first = key.endsWith("/1.json") ? await readJson(side, key, AnyRecord) : null;
      if (first !== null) records.push(await storedRecord(store, { kind, ids: [first.id], version: null }));
    }
  }
  return records.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}
