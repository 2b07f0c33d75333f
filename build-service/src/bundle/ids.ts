import { createHash } from "node:crypto";
import { encodeId, encodeLocally } from "@agent-env/protocol";

/** SHA-256 as 64 hex digits; a text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The id as it stands in keys (4-bundle §2.4). */
export function encodedId(id: string): string {
  return encodeId(id, sha256Hex);
}

/** The repository of an image that is built here (4-bundle §2.4, §10.6). */
export function imageRepository(imageId: string): string {
  return encodeLocally(imageId, sha256Hex);
}
