import { blobKey, type FileRecord, objectKey, objectUrl, UserError } from "@agent-env/protocol";
import { sha256Hex } from "../bundle/ids.ts";
import type { Store, StoreSide } from "./store.ts";

/** Puts bytes under their digest, unless they are there; gives their locator. What is there and isn't those bytes is mended. */
export async function putBlob(side: StoreSide, bytes: Uint8Array): Promise<string> {
  const key = blobKey(sha256Hex(bytes));
  const found = await side.objects.get(key);
  if (found === null ? await side.objects.create(key, bytes) : blobKey(sha256Hex(found.bytes)) === key) return objectUrl(key);
  // What is damaged keeps its key taken, also where its bytes have gone. All writers of a blob write the same.
  await side.objects.put(key, bytes);
  return objectUrl(key);
}

/** What a blob is read for, for messages. */
export type BlobReading = {
  /** `<id> v<version>: its <part>`. */
  readonly of: string;
  /** How it is written anew. */
  readonly next: string;
};

/**
 * The bytes that a locator names, known to be those that were hashed when they were put (N7). Throws a UserError where they
 * have gone, or have changed since.
 */
export async function readBlob(side: Pick<StoreSide, "objects">, locator: string, { of, next }: BlobReading): Promise<Uint8Array> {
  const key = objectKey(locator);
  const found = await side.objects.get(key);
  if (found === null) throw new UserError({ what: `${of} is not in the store`, why: `nothing is at ${key}`, next });
  const sha256 = sha256Hex(found.bytes);
  if (blobKey(sha256) === key) return found.bytes;
  throw new UserError({
    what: `${of} is not what was stored`,
    why: `${key} is to hold bytes of that sha256, and holds ${found.bytes.length} bytes of sha256 ${sha256}: something else changed them`,
    next,
  });
}

/** A `file` artifact's bytes, verified. Throws a UserError where they have gone, or have changed since. */
export function readFileBlob(store: Store, { id, version, object_url }: FileRecord): Promise<Uint8Array> {
  return readBlob(store.of(id), object_url, { of: `${id} v${version}: its content`, next: putFileAnew(id) });
}

/** The next step where a file that a record names can't be read; putting the same file again mends it. */
export function putFileAnew(id: string): string {
  return `put it again: agent-env artifact put <folder> --id ${id}`;
}
