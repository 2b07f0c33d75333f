import type { UpResponse } from "./seam.ts";

/** One for all bodies: making it costs more than what it decodes. */
const UTF_8 = new TextDecoder();

/** A body that is larger than is read. */
export class BodyTooLarge extends Error {}

/** The whole body of an answer as text. Throws `BodyTooLarge`, and a `Fault` when the answer is cut. */
export async function textOf(response: UpResponse, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await response.pump((chunk) => {
    size += chunk.length;
    if (size > limitBytes) throw new BodyTooLarge();
    chunks.push(chunk);
  });
  return UTF_8.decode(concatenated(chunks, size));
}

/** Chunks as one. */
export function concatenated(chunks: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
