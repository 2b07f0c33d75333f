import { blobKey, objectUrl } from "@agent-env/protocol";
import { sha256Hex } from "../bundle/ids.ts";
import type { StoreSide } from "./store.ts";

/** Puts bytes under their digest, unless they are there; gives their locator. */
export async function putBlob(side: StoreSide, bytes: Uint8Array): Promise<string> {
  const key = blobKey(sha256Hex(bytes));
  if ((await side.objects.head(key)) === null) await side.objects.create(key, bytes);
  return objectUrl(key);
}
