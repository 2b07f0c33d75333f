import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { Fault } from "../../core/seam.ts";
import { pumped } from "./in.ts";

/** By the name of a content coding (RFC 9110 §8.4.1). */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createUnzip,
  br: createBrotliDecompress,
};

/** Whether a body in such a coding can be read: in none, or in one that is known. */
export function isReadableCoding(coding: string | undefined): boolean {
  const name = nameOf(coding);
  return name === "identity" || DECODERS[name] !== undefined;
}

/** Gives every decoded chunk of a message to `take`, which holds back the next one while its promise is open. */
export async function pumpedDecoded(
  message: IncomingMessage,
  coding: string | undefined,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  const decoder = DECODERS[nameOf(coding)]?.();
  if (decoder === undefined) return await pumped(message, take);
  const read = pipeline(message, decoder, async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) await take(chunk);
  });
  await read.catch((error: unknown) => {
    if (error instanceof Error && "code" in error)
      throw new Fault("reset", "the connection was cut, or its coding is broken", { cause: error });
    throw error;
  });
}

function nameOf(coding: string | undefined): string {
  return (coding ?? "identity").trim().toLowerCase();
}
