import { promisify } from "node:util";
import { brotliDecompress, inflate, unzip } from "node:zlib";

const DECODERS = { gzip: promisify(unzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };

/** The plain bytes of a body; null when they are more than `limit`. Rejects when the bytes are not in that coding. */
export async function decode(coding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array | null> {
  if (coding !== "gzip" && coding !== "deflate" && coding !== "br") throw new Error(`no decoder for ${coding}`);
  try {
    return await DECODERS[coding](bytes, { maxOutputLength: limit });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
