import { type Kind, tableOf } from "@agent-env/protocol";
import { z } from "zod";
import { parseStored } from "../store/json.ts";
import type { Store } from "../store/store.ts";
import { canonicalDigest } from "./canonical.ts";
import { encodedId } from "./ids.ts";

/** The scheme of digests; a row of another one is written anew. */
export const SCHEME = 1;

const Inputs = z.object({
  type: z.string(),
  config: z.string(),
  files: tableOf(z.string()),
  needs: tableOf(z.string()),
  store_refs: tableOf(z.string()),
});
/** What a version was made from (4-bundle §9.2). */
export type LedgerInputs = z.infer<typeof Inputs>;

const Row = z.object({
  store: z.string(),
  id: z.string(),
  bundle: z.string(),
  status: z.enum(["done", "pending"]),
  scheme: z.int(),
  /** Missing in an attempt. */
  version: z.int().positive().optional(),
  attempt: z.string(),
  /** Missing in a done row whose inputs changed while they were written. */
  digest: z.string().optional(),
  at: z.string(),
  inputs: Inputs,
});
export type LedgerRow = z.infer<typeof Row>;

/** The digest of what a version is made from: equal digests mean that nothing has to be written. */
export function inputsDigest(write: { readonly store: Kind; readonly id: string; readonly inputs: LedgerInputs }): string {
  const { store, id, inputs } = write;
  return canonicalDigest({ id, inputs, scheme: SCHEME, store });
}

const folder = (kind: Kind, id: string): string => `ledger/${kind}/${encodedId(id)}`;
const doneKey = (kind: Kind, id: string, version: number): string => `${folder(kind, id)}/done/${version}.json`;
const attemptKey = (kind: Kind, id: string, attempt: string): string => `${folder(kind, id)}/attempts/${attempt}.json`;

/**
 * The done row of the highest version of an id; null when none was ever written by a bundle. `latest` is the id's latest
 * version in the store, which mostly is that row's: rows are listed only where something else wrote, or records have gone.
 */
export async function newestDone(store: Store, kind: Kind, id: string, latest: number): Promise<LedgerRow | null> {
  if (latest > 0) {
    const [row, next] = await Promise.all([latest, latest + 1].map((version) => readRow(store, doneKey(kind, id, version))));
    if (row !== null && row !== undefined && next === null) return row;
  }
  const prefix = `${folder(kind, id)}/done/`;
  const versions = (await store.local.objects.list(prefix)).map(({ key }) => Number(key.slice(prefix.length).replace(/\.json$/, "")));
  const newest = Math.max(0, ...versions.filter(Number.isInteger));
  return newest === 0 ? null : readRow(store, doneKey(kind, id, newest));
}

/** The done row of one version; null when no bundle wrote that version. */
export async function doneRow(store: Store, kind: Kind, id: string, version: number): Promise<LedgerRow | null> {
  return readRow(store, doneKey(kind, id, version));
}

/** The row of one attempt; null once the attempt has ended. */
export async function attemptRow(store: Store, kind: Kind, id: string, attempt: string): Promise<LedgerRow | null> {
  return readRow(store, attemptKey(kind, id, attempt));
}

async function readRow(store: Store, key: string): Promise<LedgerRow | null> {
  const found = await store.local.objects.get(key);
  return found === null ? null : parseStored(key, found.bytes, Row);
}

export async function writeAttempt(store: Store, kind: Kind, row: LedgerRow): Promise<void> {
  await store.local.objects.put(attemptKey(kind, row.id, row.attempt), `${JSON.stringify(row)}\n`);
}

/**
 * Writes the done row of a version, and drops all attempts of its id. A row of that number can only be there when its
 * record has gone from the store since: it is replaced.
 */
export async function writeDone(store: Store, kind: Kind, row: LedgerRow & { readonly version: number }): Promise<void> {
  await store.local.objects.put(doneKey(kind, row.id, row.version), `${JSON.stringify(row)}\n`);
  await dropAttempts(store, kind, row.id);
}

/** Removes what interrupted runs have left of an id: attempts that no record goes back to. */
export async function dropAttempts(store: Store, kind: Kind, id: string): Promise<void> {
  for (const { key } of await store.local.objects.list(`${folder(kind, id)}/attempts/`)) await store.local.objects.remove(key);
}
