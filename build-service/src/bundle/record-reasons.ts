import { AnyRecord } from "@agent-env/protocol";
import { readStored } from "../store/json.ts";
import type { StoredObject } from "../store/store.ts";
import type { LatestObject } from "../store/versions.ts";
import { sha256Hex } from "./ids.ts";
import type { LedgerRow } from "./ledger.ts";

/** Why the latest version in the store can't be reused (N7): `last` is the newest row, and what is stored isn't what it is about. */
export function recordReasons({ version, object }: LatestObject, last: LedgerRow): string[] {
  if (version === 0 || last.version !== version) return [];
  if (object === null) return [`the store has lost the record of v${version}`];
  return isAsWritten(object, version, last) ? [] : [`the store's v${version} is not what was written`];
}

function isAsWritten({ bytes, metadata }: StoredObject, version: number, last: LedgerRow): boolean {
  const { digest, sha256 } = metadata;
  const read = readStored(bytes, AnyRecord);
  if (!("value" in read) || (sha256 !== undefined && sha256 !== sha256Hex(bytes))) return false;
  const { value: record } = read;
  const isOfRow = record.id === last.id && record.version === version && record.type === last.inputs.type;
  // A row whose inputs changed while they were written vouches for none.
  return isOfRow && (last.digest === undefined || last.digest === digest);
}
