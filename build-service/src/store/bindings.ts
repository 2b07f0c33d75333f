/** What of R2 and KV is used, with nothing of a platform: both Node and the Worker that has the bindings use these types. */
export type R2Head = { key: string; size: number; etag: string; uploaded: Date; customMetadata?: Record<string, string> };
export type R2PutOptions = {
  onlyIf?: { etagDoesNotMatch?: string; etagMatches?: string };
  customMetadata?: Record<string, string>;
};
export type R2ListOptions = { prefix: string; cursor?: string; limit?: number; include?: ("customMetadata" | "httpMetadata")[] };
export type R2Page = { objects: R2Head[] } & ({ truncated: false } | { truncated: true; cursor: string });
export type R2 = {
  get(key: string): Promise<(R2Head & { bytes: Uint8Array }) | null>;
  head(key: string): Promise<R2Head | null>;
  put(key: string, value: Uint8Array, options?: R2PutOptions): Promise<R2Head | null>;
  delete(key: string): Promise<void>;
  list(options: R2ListOptions): Promise<R2Page>;
};

export type KvListOptions = { prefix: string; cursor?: string; limit?: number };
export type KvPage = { keys: { name: string }[] } & ({ list_complete: true } | { list_complete: false; cursor: string });
export type Kv = {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  list(options: KvListOptions): Promise<KvPage>;
};

export type Bindings = { readonly bucket: R2; readonly namespace: Kv; close(): Promise<void> };

/** One call of a binding, as a Worker is asked for it in the header `call`. A value that is put is the request's body. */
export type BindingCall =
  | {
      readonly name: "bucket.get" | "bucket.head" | "bucket.delete" | "namespace.get" | "namespace.put" | "namespace.delete";
      readonly key: string;
    }
  | { readonly name: "bucket.put"; readonly key: string; readonly options: R2PutOptions }
  | { readonly name: "bucket.list"; readonly options: R2ListOptions }
  | { readonly name: "namespace.list"; readonly options: KvListOptions };
