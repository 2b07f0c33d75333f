/** An object of the store as read. `etag` names exactly these bytes. */
export type StoredObject = { readonly bytes: Uint8Array; readonly etag: string; readonly metadata: Readonly<Record<string, string>> };
export type ObjectHead = {
  readonly key: string;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
};
/** An object as a list shows it: R2's own lists hold no metadata over S3. */
export type ListedObject = Omit<ObjectHead, "metadata">;

/** R2, or what stands for it: the truth. Every call is retried inside where that is safe. */
export interface ObjectStore {
  get(key: string): Promise<StoredObject | null>;
  head(key: string): Promise<ObjectHead | null>;
  /** Writes only where nothing is; false when the key is taken by another write, whatever it holds. */
  create(key: string, content: Uint8Array | string, metadata?: Record<string, string>): Promise<boolean>;
  /** Writes whatever is there. Only for keys that one writer has: a write whose answer is late may come after a newer one. */
  put(key: string, content: Uint8Array | string, metadata?: Record<string, string>): Promise<void>;
  /** Writes only over exactly what `etag` names; false when something else, or nothing, is there by now. Drops its metadata. */
  replace(key: string, content: Uint8Array | string, etag: string): Promise<boolean>;
  /** Fine when nothing is there. */
  remove(key: string): Promise<void>;
  /** All objects whose key starts with `prefix`, sorted by code point. */
  list(prefix: string): Promise<ListedObject[]>;
}

/**
 * KV, or what stands for it: projections for the edge, rebuilt from the objects at any time. It has no conditions: who
 * writes one looks afterwards whether what it shows is still the latest (`project.ts`).
 */
export interface Projections {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** All keys that start with `prefix`, sorted by code point. */
  list(prefix: string): Promise<string[]>;
  /** Many at once; a key that holds nothing is left out. */
  getAll(keys: readonly string[]): Promise<Map<string, string>>;
  putAll(values: ReadonlyMap<string, string>): Promise<void>;
  removeAll(keys: readonly string[]): Promise<void>;
}

/** A lock that ends with its process, however it dies. */
export interface Lock {
  release(): Promise<void>;
}

/** One place that holds records with all that belongs to them: objects, what the edge sees of them, locks. */
export interface StoreSide {
  readonly objects: ObjectStore;
  readonly projections: Projections;
  /**
   * Waits until this process alone holds `name`. `owner` is shown to those who wait; `onWait` is called once, with the
   * holder's text, if it has to wait.
   */
  lock(name: string, owner: string, onWait: (holder: string) => void, signal: AbortSignal): Promise<Lock>;
}

/**
 * All records that a command can reach. `@local/` ids live in the local store, bare ids in the configured one (4-bundle
 * §11.1); both may be the same. So nothing is read or written without saying by which id: there is no side to forget.
 */
export interface Store {
  /** Where the records of an id lie, and what they name: blobs, contexts, build rows, the locks of its writers. */
  of(id: string): StoreSide;
  /** Where `@local/` ids, the ledger and the deployments of this machine's gateways lie. */
  readonly local: StoreSide;
  /** Where bare ids lie. */
  readonly configured: StoreSide;
  close(): Promise<void>;
}

/** A store that is its own only side. */
export type SingleStore = Store & StoreSide;
