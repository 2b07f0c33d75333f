import { AnyRecord, envKvKey, type Kind, latestKey, recordKey, UserError, type VersionedRef } from "@agent-env/protocol";
import { z } from "zod";
import { encodedId, sha256Hex } from "../bundle/ids.ts";
import { refuseLocalRefs } from "./foreign-refs.ts";
import { highest } from "./highest.ts";
import { readJson, readStored } from "./json.ts";
import { envProjection, projectLatest } from "./project.ts";
import type { Store, StoredObject, StoreSide } from "./store.ts";

const Pointer = z.object({ version: z.int().positive() });

/** What the pointer of an id says; 0 where something else changed it: it only says where to look first, and the next write mends it. */
function pointedAt(bytes: Uint8Array): number {
  const read = readStored(bytes, Pointer);
  return "value" in read ? read.value.version : 0;
}

/**
 * The newest version of an id; 0 when there is none. Starts at the pointer, which may lag after a crash, and looks on
 * until a version is missing, so a reader is never fooled by it. Takes three requests however many versions there are.
 */
export async function latestVersion(store: Store, kind: Kind, id: string): Promise<number> {
  return highest(await pointedVersion(store, kind, id), (version) => isThere(store, kind, id, version));
}

/** The newest version of an id with its object; null where its number is taken and its bytes have gone. */
export type LatestObject = { readonly version: number; readonly object: StoredObject | null };

/** Like `latestVersion`, with what is stored as that version: where the pointer is right it takes no request more. */
export async function latestObject(store: Store, kind: Kind, id: string): Promise<LatestObject> {
  const read = (version: number): Promise<StoredObject | null> => store.of(id).objects.get(recordKey(kind, encodedId(id), version));
  const hint = await pointedVersion(store, kind, id);
  const hinted = hint === 0 ? Promise.resolve(null) : read(hint);
  const version = await highest(hint, async (number) => (number === hint && (await hinted) !== null) || isThere(store, kind, id, number));
  return { version, object: version === hint ? await hinted : version === 0 ? null : await read(version) };
}

async function pointedVersion(store: Store, kind: Kind, id: string): Promise<number> {
  const pointer = await store.of(id).objects.get(latestKey(kind, encodedId(id)));
  return pointer === null ? 0 : pointedAt(pointer.bytes);
}

async function isThere(store: Store, kind: Kind, id: string, version: number): Promise<boolean> {
  return (await versionMetadata(store, kind, id, version)) !== null;
}

/**
 * The type that an env has in the store, as its newest record up to `version` says that can be read and is its own; null
 * where there is none.
 */
export async function storedEnvType(store: Store, id: string, version: number): Promise<string | null> {
  for (let number = version; number > 0; number--) {
    const record = await readableVersion(store, "env", id, number);
    if (record?.id === id && record.version === number) return record.type;
  }
  return null;
}

/** One version of an id; null where it is lost, or damaged. */
export async function readableVersion(store: Store, kind: Kind, id: string, version: number): Promise<AnyRecord | null> {
  const found = await store.of(id).objects.get(recordKey(kind, encodedId(id), version));
  const read = found === null ? null : readStored(found.bytes, AnyRecord);
  return read !== null && "value" in read ? read.value : null;
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

/** The metadata that a version's object was written with (attempt, digest, its own sha256), or null where there is no such version. */
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
 * never changes, so the type that won version 1 is that of all. Where its bytes were damaged, one before it says the type.
 */
export async function createVersion(store: Store, kind: Kind, record: AnyRecord, metadata: Record<string, string>): Promise<boolean> {
  const { id, version, type } = record;
  refuseLocalRefs(record);
  if (version > 1) {
    if (!(await isThere(store, kind, id, version - 1)))
      throw new Error(`${kind} ${id}: v${version} would leave a gap, v${version - 1} is not in the store`);
    const earlier = kind === "env" ? await storedEnvType(store, id, version - 1) : null;
    if (earlier !== null && earlier !== type) {
      throw new UserError({
        what: `${id}: is an env of type ${earlier} in the store, and this is a ${type}`,
        why: "what deploys an env relies on its type, so an id keeps the type that it had first",
        next: "give the new one another id",
      });
    }
  }
  const text = `${JSON.stringify(record)}\n`;
  return store.of(id).objects.create(recordKey(kind, encodedId(id), version), text, { ...metadata, sha256: sha256Hex(text) });
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
    const version = pointer === null ? record.version : pointedAt(pointer.bytes);
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
    } else if (pointedAt(found.bytes) >= version || (await objects.replace(key, text, found.etag))) return;
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
