import { brotliDecompress, inflate, unzip } from "node:zlib";

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }, done: (error: Error | null, plain: Uint8Array) => void) => void;

const DECODERS: Readonly<Record<string, Decoder>> = { gzip: unzip, deflate: inflate, br: brotliDecompress };

/**
 * The plain bytes of a body; null when they are more than `limit`. Rejects when the bytes are not in that coding. Both hosts
 * have `node:zlib`; the web's own decoder knows no `br` on Workers.
 */
export function decode(coding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array | null> {
  const decoder = DECODERS[coding];
  if (decoder === undefined) return Promise.reject(new Error(`no decoder for ${coding}`));
  return new Promise((resolve, reject) => {
    decoder(bytes, { maxOutputLength: limit }, (error, plain) => {
      if (error === null) resolve(new Uint8Array(plain));
      else if (error instanceof RangeError) resolve(null);
      else reject(error);
    });
  });
}
