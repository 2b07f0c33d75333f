import { type AnyRecord, type Kind, type Problem, UserError } from "@agent-env/protocol";
import type { Store } from "../store/store.ts";
import { latestVersion, readVersion } from "../store/versions.ts";
import type { Bundle } from "./bundle.ts";
import { expected } from "./lookup.ts";
import { type ResolvedRef, writeKey } from "./resolved.ts";
import { shownText } from "./shown.ts";
import { nearEntry } from "./store-names.ts";

/** A reference to something of the store, at the version that this plan read: everything later in the run uses it (B9). */
export type StoreRef = { readonly kind: Kind; readonly id: string; readonly version: number; readonly pinned: boolean };

export type StoreView = {
  readonly refs: readonly StoreRef[];
  readonly problems: readonly Problem[];
  /** The record that a reference names, at its pin or at the version that was read. */
  record(kind: Kind, id: string, version: number | null): AnyRecord | undefined;
};

/** Reads what the references name in the store, each once. Writes nothing. `places` says where else was looked, for messages. */
export async function readStoreRefs(
  bundle: Bundle,
  refs: readonly ResolvedRef[],
  store: Store,
  places = "in this bundle or in the store",
): Promise<StoreView> {
  const records = new Map<string, AnyRecord>();
  const found = new Map<string, StoreRef>();
  const problems: Problem[] = [];
  for (const { at, target, version, types } of refs) {
    if (target.in !== "store") continue;
    const { kind, id } = target;
    const key = refKey(kind, id, version);
    const known = records.get(key);
    const read =
      known === undefined ? await readOne(store, { kind, id, version, places: `${places}${hint(bundle, kind, id)}` }) : { record: known };
    if ("code" in read) {
      problems.push({ code: read.code, path: at, message: read.message });
      continue;
    }
    const { record } = read;
    if (types !== undefined && !types.includes(record.type)) {
      const message = `${JSON.stringify(id)} is of type ${record.type} in the store, and the field takes ${expected(kind, types)}`;
      problems.push({ code: "stored-kind", path: at, message });
    } else {
      records.set(key, record);
      found.set(key, { kind, id, version: record.version, pinned: version !== null });
    }
  }
  return {
    refs: [...found.values()],
    problems,
    record: (kind, id, version) => records.get(refKey(kind, id, version)),
  };
}

function refKey(kind: Kind, id: string, version: number | null): string {
  return `${writeKey(kind, id)} ${version ?? "latest"}`;
}

type Missing = { readonly code: "not-stored" | "store-unreadable"; readonly message: string };

type Wanted = { readonly kind: Kind; readonly id: string; readonly version: number | null; readonly places: string };

async function readOne(store: Store, { kind, id, version: pinned, places }: Wanted): Promise<{ readonly record: AnyRecord } | Missing> {
  try {
    const latest = await latestVersion(store, kind, id);
    const what = `no ${kind} ${JSON.stringify(id)}`;
    if (latest === 0) return { code: "not-stored", message: `there is ${what} ${places}` };
    const version = pinned ?? latest;
    const record = await readVersion(store, kind, id, version);
    if (record !== null) return { record };
    return { code: "not-stored", message: `there is ${what} v${version} in the store: its latest is v${latest}` };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { code: "store-unreadable", message: `${JSON.stringify(id)} is stored, but it can't be read: ${onOneLine(error.why)}` };
  }
}

/** A store's reason may be a list of what is wrong with a record, a line each. */
function onOneLine(text: string): string {
  return shownText(text.replaceAll(/\s*\n\s*/g, " "));
}

/** What was meant instead: an entity of this bundle with nearly that name, or one with that name that is of another kind. */
function hint(bundle: Bundle, kind: Kind, id: string): string {
  const other = bundle.entries.find(({ name }) => name === id);
  if (other !== undefined) return `; ${other.path} has that name, and is ${expected(other.kind, undefined)}`;
  const near = nearEntry(bundle, kind, id);
  return near === null ? "" : `: probably ${JSON.stringify(near)}, which is in this bundle`;
}
