/** What of Node's module is used on Workers, which have it under the same name. */
declare module "node:zlib" {
  type Decode = (
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number },
    done: (error: Error | null, plain: Uint8Array) => void,
  ) => void;
  export const brotliDecompress: Decode;
  export const inflate: Decode;
  export const unzip: Decode;
}
