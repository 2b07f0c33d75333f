import type { Kind } from "@agent-env/protocol";
import type { Store } from "../store/store.ts";
import { latestObject } from "../store/versions.ts";
import { attemptRow, inputsDigest, type LedgerInputs, type LedgerRow, newestDone, SCHEME } from "./ledger.ts";
import { changeReasons } from "./reasons.ts";
import { recordReasons } from "./record-reasons.ts";

export type Decision = {
  readonly version: number;
  /** The version is in the store already. */
  readonly unchanged: boolean;
  /** Why it is written anew; of an unchanged one, only that it was adopted. */
  readonly reasons: readonly string[];
  /** The attempt of an interrupted run whose record is the version, and that must be completed. */
  readonly adopts: LedgerRow | null;
};

/** What is about to be written, by which bundle, from what. */
export type Write = { readonly kind: Kind; readonly id: string; readonly bundle: string; readonly inputs: LedgerInputs };

/**
 * Whether an id has to be written anew, as which version, and why (4-bundle §9.3). Reads the store only. `forced` gives
 * further reasons, asked for once the inputs are known to be those of `version`.
 */
export async function decideWrite(
  store: Store,
  write: Write,
  forced: (version: number) => Promise<readonly string[]> = async () => [],
): Promise<Decision> {
  const { kind, id } = write;
  const stored = await latestObject(store, kind, id);
  const latest = stored.version;
  const done = await newestDone(store, kind, id, latest);
  const attemptId = latest > (done?.version ?? 0) ? stored.object?.metadata["attempt"] : undefined;
  const attempt = attemptId === undefined ? null : await attemptRow(store, kind, id, attemptId);
  const last = attempt === null ? done : { ...attempt, version: latest };

  const found = [...writeReasons(last, latest, write), ...(last === null ? [] : recordReasons(stored, last))];
  const isSame = last !== null && hasInputs(last, write);
  const reasons = found.length === 0 && isSame ? await forced(latest) : found;

  if (reasons.length > 0) return { version: latest + 1, unchanged: false, reasons, adopts: null };
  if (attempt === null) return { version: latest, unchanged: true, reasons: [], adopts: null };
  return { version: latest, unchanged: true, reasons: ["unchanged, adopted from an interrupted run"], adopts: attempt };
}

/** Why a write makes a new version after `latest`, where `last` is the newest row: what is known without an Engine. */
export function writeReasons(last: LedgerRow | null, latest: number, write: Write): string[] {
  const { bundle, inputs } = write;
  const standing = standingReasons(last, latest);
  if (last === null || hasInputs(last, write)) return standing;
  const another = last.bundle === bundle ? [] : [`last written by the bundle ${last.bundle}`];
  return [...standing, ...another, ...changeReasons(last.inputs, inputs)];
}

function hasInputs(row: LedgerRow, { kind, id, inputs }: Write): boolean {
  return row.scheme === SCHEME && row.digest === inputsDigest({ store: kind, id, inputs });
}

/** What is wrong with the last row whatever the inputs are now. */
function standingReasons(last: LedgerRow | null, latest: number): string[] {
  if (last === null) return [latest === 0 ? "new" : `the store's latest, v${latest}, isn't in the ledger`];
  const version = last.version ?? 0;
  const reasons: string[] = [];
  if (version > latest) reasons.push(`its v${version} is not in the store`);
  if (version < latest) reasons.push(`the store's latest, v${latest}, isn't in the ledger`);
  if (last.digest === undefined) reasons.push("its files changed while it was written");
  else if (last.scheme !== SCHEME) reasons.push("the digest scheme changed");
  return reasons;
}
