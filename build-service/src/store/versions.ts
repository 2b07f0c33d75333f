import { AnyRecord, envKvKey, type Kind, latestKey, recordKey, UserError, type VersionedRef } from "@agent-env/protocol";
import { z } from "zod";
import { encodedId } from "../bundle/ids.ts";
import { refuseLocalRefs } from "./foreign-refs.ts";
import { highest } from "./highest.ts";
import { parseStored, readJson } from "./json.ts";
import { envProjection, projectLatest } from "./project.ts";
import type { Store, StoreSide } from "./store.ts";

const Pointer = z.object({ version: z.int().positive() });

/** What the pointer of an id says; 0 where something else changed it: it only says where to look first, and the next write mends it. */
function pointedAt(key: string, bytes: Uint8Array): number {
  try {
    return parseStored(key, bytes, Pointer).version;
  } catch (error) {
    if (error instanceof UserError) return 0;
    throw error;
  }
}

/**
 * The newest version of an id; 0 when there is none. Starts at the pointer, which may lag after a crash, and looks on
 * until a version is missing, so a reader is never fooled by it. Takes three requests however many versions there are.
 */
export async function latestVersion(store: Store, kind: Kind, id: string): Promise<number> {
  const side = store.of(id);
  const encoded = encodedId(id);
  const key = latestKey(kind, encoded);
  const pointer = await side.objects.get(key);
  return highest(
    pointer === null ? 0 : pointedAt(key, pointer.bytes),
    async (version) => (await side.objects.head(recordKey(kind, encoded, version))) !== null,
  );
}

/** One version of an id, or null. Throws a UserError when it is there and can't be read. */
export async function readVersion(store: Store, kind: Kind, id: string, version: number): Promise<AnyRecord | null> {
  return readJson(store.of(id), recordKey(kind, encodedId(id), version), AnyRecord);
}

/** One version of an id that something references, called `what` in the message. Throws a UserError where it is missing. */
export async function requiredVersion(store: Store, kind: "env" | "artifact", ref: VersionedRef, what: string = kind): Promise<AnyRecord> {
  const isNamed = ref.version > 0;
  const record = isNamed ? await readVersion(store, kind, ref.id, ref.version) : null;
  if (record !== null) return record;
  throw new UserError({
    what: `${ref.id}${isNamed ? ` v${ref.version}` : ""}: no such ${what} in the store`,
    why: isNamed ? "nothing has written that version" : "nothing has written it",
    next: "run the bundle that holds it: `agent-env run <bundle>`",
  });
}

/** The metadata that a version's object was written with (attempt and digest), or null where there is no such version. */
export async function versionMetadata(
  store: Store,
  kind: Kind,
  id: string,
  version: number,
): Promise<Readonly<Record<string, string>> | null> {
  const head = await store.of(id).objects.head(recordKey(kind, encodedId(id), version));
  return head?.metadata ?? null;
}

/**
 * Writes one version, create-only; false when that number is taken. The caller moves the pointer with `finishVersion`
 * once all that belongs to the version is there.
 *
 * An env keeps the type of its first version, whoever races: version n is compared with n - 1, which has to be there and
 * never changes, so the type that won version 1 is that of all.
 */
export async function createVersion(store: Store, kind: Kind, record: AnyRecord, metadata: Record<string, string>): Promise<boolean> {
  const { id, version, type } = record;
  refuseLocalRefs(record);
  if (version > 1) {
    const earlier = await readVersion(store, kind, id, version - 1);
    if (earlier === null) throw new Error(`${kind} ${id}: v${version} would leave a gap, v${version - 1} is not in the store`);
    if (kind === "env" && earlier.type !== type) {
      throw new UserError({
        what: `${id}: is an env of type ${earlier.type} in the store, and this is a ${type}`,
        why: "what deploys an env relies on its type, so an id keeps the type that it had first",
        next: "give the new one another id",
      });
    }
  }
  return store.of(id).objects.create(recordKey(kind, encodedId(id), version), `${JSON.stringify(record)}\n`, metadata);
}

/**
 * Moves the latest pointer to `record` and shows an env to the edge. Safe to repeat and to race: neither ever ends on an
 * older version than it had.
 */
export async function finishVersion(store: Store, kind: Kind, record: AnyRecord): Promise<void> {
  const side = store.of(record.id);
  const encoded = encodedId(record.id);
  const key = latestKey(kind, encoded);
  await movePointer(side, key, record.version);
  if (kind !== "env") return;
  await projectLatest(side, envKvKey(encoded), async () => {
    const pointer = await side.objects.get(key);
    const version = pointer === null ? record.version : pointedAt(key, pointer.bytes);
    const latest = version === record.version ? record : await readVersion(store, kind, record.id, version);
    // The pointer may name a version that was removed from the store since: then this one is as new as there is.
    return envProjection(latest ?? record);
  });
}

/** Swaps the pointer forward until it is at `version` or beyond. */
async function movePointer({ objects }: StoreSide, key: string, version: number): Promise<void> {
  const text = JSON.stringify({ version });
  for (;;) {
    const found = await objects.get(key);
    if (found === null) {
      if (await objects.create(key, text)) return;
    } else if (pointedAt(key, found.bytes) >= version || (await objects.replace(key, text, found.etag))) return;
  }
}

/** How often a plain put that lost the race for a number tries the next one (4-bundle §11.1). */
const RACES = 5;

/** Writes `record` as the next version of its id, and finishes it. The record it has become, with its version. */
export async function putNextVersion(
  store: Store,
  kind: Kind,
  record: Omit<AnyRecord, "version">,
  metadata: Record<string, string>,
): Promise<AnyRecord> {
  for (let race = 0; race < RACES; race++) {
    const { id, type, ...body } = record;
    const version = (await latestVersion(store, kind, String(id))) + 1;
    // In the order of a record that a bundle writes.
    const written = AnyRecord.parse({ ...{ id, type, version, ...body }, version });
    if (!(await createVersion(store, kind, written, metadata))) continue;
    await finishVersion(store, kind, written);
    return written;
  }
  throw new UserError({
    what: `${String(record["id"])}: ${RACES} times another writer took the next version first`,
    why: "something else writes this id all the time",
    next: "find out what does, then try again",
  });
}
