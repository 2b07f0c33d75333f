/** An object of the store as read. `etag` names exactly these bytes. */
export type StoredObject = { readonly bytes: Uint8Array; readonly etag: string; readonly metadata: Readonly<Record<string, string>> };
export type ObjectHead = {
  readonly key: string;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
};

/** R2, or what stands for it: the truth. Every call is retried inside where that is safe. */
export interface ObjectStore {
  get(key: string): Promise<StoredObject | null>;
  head(key: string): Promise<ObjectHead | null>;
  /** Writes only where nothing is; false when the key is taken, whoever took it. */
  create(key: string, content: Uint8Array | string, metadata?: Record<string, string>): Promise<boolean>;
  put(key: string, content: Uint8Array | string, metadata?: Record<string, string>): Promise<void>;
  /** Writes only over exactly what `etag` names; false when something else is there by now. */
  replace(key: string, content: Uint8Array | string, etag: string): Promise<boolean>;
  remove(key: string): Promise<void>;
  /** All keys below `prefix`, sorted. */
  list(prefix: string): Promise<ObjectHead[]>;
}

/** KV, or what stands for it: projections for the edge, rebuilt from the objects at any time. */
export interface Projections {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
}

/** A lock that ends with its process, however it dies. */
export interface Lock {
  release(): Promise<void>;
}

export interface Store {
  readonly objects: ObjectStore;
  readonly projections: Projections;
  /**
   * Waits until this process alone holds `name`. `owner` is shown to those who wait; `onWait` is called once, with the
   * holder's text, if it has to wait.
   */
  lock(name: string, owner: string, onWait: (holder: string) => void, signal: AbortSignal): Promise<Lock>;
  close(): Promise<void>;
}
