import { accessSync, constants, existsSync, mkdirSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { byCodePoint } from "../bundle/code-points.ts";
import type { Kv, R2, R2Head, R2PutOptions } from "./bindings.ts";
import { emptyStore } from "./empty.ts";
import { localFiles } from "./local-files.ts";
import { fileLock } from "./lock.ts";
import { startMiniflare } from "./miniflare.ts";
import { withRetry } from "./retry.ts";
import { singleStore } from "./sides.ts";
import type { ListedObject, ObjectHead, ObjectStore, Projections, SingleStore } from "./store.ts";
import { isMarked, newWriteMark, withMark, withoutMark } from "./write-mark.ts";

/** Of 40 racing writers none has needed more than 5; the pauses add up to some 6 s. */
const TRIES = 20;

/** SQLite needs room for its journal besides the data. */
const FULL_BELOW_MB = 2;

/**
 * The local store: Miniflare's R2 and KV in `<stateDir>/v3`, the files that `wrangler dev --persist-to <stateDir>` uses.
 * `mode: "read"` on a state folder that isn't there gives an empty store and makes nothing.
 *
 * Throws a UserError (exit code 2) when the folder can't be written.
 */
export async function openLocalStore(stateDir: string, mode: "read" | "write"): Promise<SingleStore> {
  if (mode === "read" && !hasLocalStore(stateDir)) return emptyStore(stateDir);
  makeStateDir(stateDir);
  const files = join(stateDir, "v3");
  const { bucket, namespace, close } = localFiles(files, () => startMiniflare(files));
  const patiently = patientIn(stateDir);
  return singleStore(
    {
      objects: objectsOver(bucket, patiently),
      projections: projectionsOver(namespace, patiently),
      lock: (name, owner, onWait, signal) => fileLock(join(stateDir, "locks"), { name, owner, onWait, signal }),
    },
    close,
  );
}

/** Whether anything was ever stored there. */
export function hasLocalStore(stateDir: string): boolean {
  return existsSync(join(stateDir, "v3"));
}

/** Makes the state folder where it isn't there. Throws a UserError (exit code 2) that names it when it can't be used. */
export function makeStateDir(stateDir: string): void {
  try {
    makeFolder(stateDir);
    accessSync(stateDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UserError(
      {
        what: `${stateDir}: the state folder can't be written`,
        why: error instanceof Error ? error.message : String(error),
        next: "set AGENT_ENV_STATE_DIR to a folder that you can write",
        exitCode: 2,
      },
      { cause: error },
    );
  }
}

/** One folder after the other: where none can be made (`/proc`), Node's own recursive form never returns. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!existsSync(path)) throw error;
  }
}

type Patiently = <T>(attempt: (earlierTries: number) => Promise<T>) => Promise<T>;

/**
 * workerd's SQLite answers BUSY instead of waiting when another process writes. It comes as an error with no code: every
 * error of a binding is taken for that and tried again. What is still an error then is the disk's or the store's own.
 */
function patientIn(stateDir: string): Patiently {
  return async (attempt) => {
    try {
      return await withRetry({ tries: TRIES, isRetryable: () => true, firstPauseMs: 5, longestPauseMs: 400 }, attempt);
    } catch (error) {
      const { bavail, bsize } = statfsSync(stateDir);
      const freeMb = Math.floor((bavail * bsize) / 1e6);
      throw new UserError(
        {
          what: `${stateDir}: the store there failed ${TRIES} times`,
          why: freeMb < FULL_BELOW_MB ? `the disk is full: ${freeMb} MB are free` : String(error),
          next:
            freeMb < FULL_BELOW_MB
              ? "free some space, then run the command again, which goes on from there"
              : "look whether another program holds that folder",
        },
        { cause: error },
      );
    }
  };
}

function objectsOver(bucket: R2, patiently: Patiently): ObjectStore {
  /** An earlier try may have been committed although it was answered with an error: then what stands in the way is ours. */
  function conditionalPut(key: string, content: Uint8Array | string, options: R2PutOptions): Promise<boolean> {
    const mark = newWriteMark();
    const marked = { ...options, customMetadata: withMark(options.customMetadata ?? {}, mark) };
    return patiently(async (earlierTries) => {
      if ((await bucket.put(key, bytesOf(content), marked)) !== null) return true;
      return earlierTries > 0 && isMarked((await bucket.head(key))?.customMetadata, mark);
    });
  }

  return {
    get: (key) =>
      patiently(async () => {
        const found = await bucket.get(key);
        return found && { bytes: found.bytes, etag: found.etag, metadata: withoutMark(found.customMetadata) };
      }),
    head: (key) =>
      patiently(async () => {
        const found = await bucket.head(key);
        return found && headOf(found);
      }),
    create: (key, content, metadata = {}) => conditionalPut(key, content, { onlyIf: { etagDoesNotMatch: "*" }, customMetadata: metadata }),
    put: async (key, content, metadata = {}) => {
      await patiently(() => bucket.put(key, bytesOf(content), { customMetadata: metadata }));
    },
    replace: (key, content, etag) => conditionalPut(key, content, { onlyIf: { etagMatches: etag } }),
    remove: (key) => patiently(() => bucket.delete(key)),
    list: (prefix) => patiently(() => listAll(bucket, prefix)),
  };
}

function projectionsOver(namespace: Kv, patiently: Patiently): Projections {
  const get = (key: string) => patiently(() => namespace.get(key));
  const put = (key: string, value: string) => patiently(() => namespace.put(key, value));
  const remove = (key: string) => patiently(() => namespace.delete(key));
  return {
    get,
    put,
    remove,
    list: (prefix) => patiently(() => listKeys(namespace, prefix)),
    async getAll(keys) {
      const read = await Promise.all(keys.map(async (key) => ({ key, value: await get(key) })));
      return new Map(read.flatMap(({ key, value }) => (value === null ? [] : [[key, value]])));
    },
    async putAll(values) {
      for (const [key, value] of values) await put(key, value);
    },
    async removeAll(keys) {
      for (const key of keys) await remove(key);
    },
  };
}

async function listAll(bucket: R2, prefix: string): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.objects.map(({ key, size, etag }) => ({ key, sizeBytes: size, etag })));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return found.sort((a, b) => byCodePoint(a.key, b.key));
}

async function listKeys(namespace: Kv, prefix: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await namespace.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.keys.map(({ name }) => name));
    cursor = page.list_complete ? undefined : page.cursor;
  } while (cursor !== undefined);
  return found.sort(byCodePoint);
}

function bytesOf(content: Uint8Array | string): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

function headOf(found: R2Head): ObjectHead {
  return { key: found.key, sizeBytes: found.size, etag: found.etag, metadata: withoutMark(found.customMetadata) };
}
