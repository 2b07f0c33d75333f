import type { Kind } from "@agent-env/protocol";
import type { Store } from "../store/store.ts";
import { latestVersion, versionMetadata } from "../store/versions.ts";
import { writeReasons } from "./decide.ts";
import { doneRow, type LedgerRow } from "./ledger.ts";

/** How one version of an id came to be. */
export type HistoryEntry = {
  readonly version: number;
  /** ISO time; null where what wrote it left none. */
  readonly at: string | null;
  /** The id root of the bundle that wrote it, or null: a put, or something else. */
  readonly bundle: string | null;
  readonly reasons: readonly string[];
};

/** All versions of an id, the oldest first: who wrote each, when, and why (4-bundle §9.3), as the ledger has it. */
export async function versionHistory(store: Store, kind: Kind, id: string): Promise<HistoryEntry[]> {
  const latest = await latestVersion(store, kind, id);
  const entries: HistoryEntry[] = [];
  let before: LedgerRow | null = null;
  for (let version = 1; version <= latest; version++) {
    const row = await doneRow(store, kind, id, version);
    entries.push(row === null ? await unexplained(store, kind, id, version) : explained(row, before, { kind, id, version }));
    before = row ?? before;
  }
  return entries;
}

type Named = { readonly kind: Kind; readonly id: string; readonly version: number };

function explained(row: LedgerRow, before: LedgerRow | null, { kind, id, version }: Named): HistoryEntry {
  const { bundle, inputs } = row;
  const reasons = writeReasons(before, version - 1, { kind, id, bundle, inputs });
  // What a row doesn't hold: bases stand in build rows, and a rebuild is asked for by an option.
  const said = reasons.length === 0 ? ["a base image changed, a rebuild was asked for, or the version before was damaged"] : reasons;
  return { version, at: row.at, bundle: row.bundle, reasons: said };
}

async function unexplained(store: Store, kind: Kind, id: string, version: number): Promise<HistoryEntry> {
  const at = (await versionMetadata(store, kind, id, version))?.["put-at"] ?? null;
  return { version, at, bundle: null, reasons: [at === null ? "not written by a bundle" : "put"] };
}
