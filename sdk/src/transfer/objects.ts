import { createHash } from "node:crypto";
import type { ReadObject, WriteObject } from "@agent-env/protocol";
import { send, transferFailed } from "./send.ts";

/**
 * The bytes of an object that a caller offers. Throws an `AgentEnvError`: `transfer_too_large`, `integrity_mismatch` if size or
 * digest are others than the caller says, `grant_expired`, or what the store had against it.
 */
export async function readObject(object: ReadObject, waitsMs?: readonly number[]): Promise<Uint8Array> {
  const { max_bytes, size_bytes, sha256, read } = object;
  const request = (): RequestInit => ({ headers: read.headers });
  const sending = { url: read.url, expiresAt: read.expires_at, request, waitsMs };
  const bytes = await send(sending, (answer) => bytesUpTo(answer, max_bytes));
  if (size_bytes !== undefined && bytes.length !== size_bytes) {
    throw transferFailed("integrity_mismatch", `the object has ${bytes.length} bytes, and its caller says ${size_bytes}`);
  }
  if (sha256 !== undefined && createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw transferFailed("integrity_mismatch", "the object's digest is another than its caller says");
  }
  return bytes;
}

/** Writes an object to where a caller wants it. Throws an `AgentEnvError`, as `readObject` does. */
export async function writeObject(object: WriteObject, bytes: Uint8Array, waitsMs?: readonly number[]): Promise<void> {
  const { max_bytes, media_type, write } = object;
  if (bytes.length > max_bytes) throw tooLarge(max_bytes);
  const headers = { "Content-Type": media_type, ...write.headers };
  const request = (): RequestInit => ({ method: "PUT", headers, body: Uint8Array.from(bytes) });
  const sending = { url: write.url, expiresAt: write.expires_at, request, waitsMs };
  await send(sending, async (answer) => void (await answer.arrayBuffer()));
}

async function bytesUpTo(answer: Response, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLarge = (most: number) => transferFailed("transfer_too_large", `the object is larger than the ${most} bytes that are allowed`);
