import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, statfsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";
import type { Miniflare } from "miniflare";
import { emptyStore } from "./empty.ts";
import { fileLock } from "./lock.ts";
import { withRetry } from "./retry.ts";
import type { ObjectHead, ObjectStore, Projections, Store, StoredObject } from "./store.ts";

/** The names that `wrangler.toml` gives the same two: a record written here is served at once under `wrangler dev`. */
const KV_NAMESPACE_ID = "agent-env-records";
export const R2_BUCKET = "agent-env-store";

/** Of 40 racing writers none has needed more than 5; the pauses add up to some 6 s. */
const TRIES = 20;

/** SQLite needs room for its journal besides the data. */
const FULL_BELOW_MB = 2;

/** What of Miniflare's bindings the store uses. Their own types need a Worker's globals. */
type R2Head = { key: string; size: number; etag: string; customMetadata?: Record<string, string> };
type R2Condition = { onlyIf?: { etagDoesNotMatch?: string; etagMatches?: string }; customMetadata?: Record<string, string> };
type R2 = {
  get(key: string): Promise<(R2Head & { arrayBuffer(): Promise<ArrayBuffer> }) | null>;
  head(key: string): Promise<R2Head | null>;
  put(key: string, value: Buffer, options?: R2Condition): Promise<R2Head | null>;
  delete(key: string): Promise<void>;
  list(options: {
    prefix: string;
    cursor?: string;
    include: string[];
  }): Promise<{ objects: R2Head[] } & ({ truncated: false } | { truncated: true; cursor: string })>;
};
type Kv = { get(key: string): Promise<string | null>; put(key: string, value: string): Promise<void>; delete(key: string): Promise<void> };

/**
 * The local store: Miniflare's R2 and KV in `<stateDir>/v3`, the files that `wrangler dev --persist-to <stateDir>` uses.
 * `mode: "read"` on a state folder that isn't there gives an empty store and makes nothing.
 *
 * Throws a UserError (exit code 2) when the folder can't be written.
 */
export async function openLocalStore(stateDir: string, mode: "read" | "write"): Promise<Store> {
  if (mode === "read" && !hasLocalStore(stateDir)) return emptyStore(stateDir);
  makeStateDir(stateDir);
  const miniflare = await startMiniflare(join(stateDir, "v3"));
  const { STORE, RECORDS } = (await miniflare.getBindings()) as { STORE: R2; RECORDS: Kv };
  const patiently = patientIn(stateDir);
  return {
    objects: objectsOver(STORE, patiently),
    projections: projectionsOver(RECORDS, patiently),
    lock: (name, owner, onWait, signal) => fileLock(join(stateDir, "locks"), { name, owner, onWait, signal }),
    close: () => miniflare.dispose(),
  };
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

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Removes the signal handlers that were added since, when it is called. Miniflare's end the process at once, and a command has
 * to take down what it started first.
 */
function newSignalHandlers(): () => void {
  const before = SIGNALS.map((signal) => new Set(process.listeners(signal)));
  return () => {
    for (const [index, signal] of SIGNALS.entries()) {
      for (const handler of process.listeners(signal)) if (!before[index]?.has(handler)) process.off(signal, handler);
    }
  };
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

async function startMiniflare(persistPath: string): Promise<Miniflare> {
  const require = createRequire(import.meta.url);
  process.env["AGENT_ENV_WORKERD"] ??= createRequire(require.resolve("miniflare"))("workerd").default as string;
  process.env["MINIFLARE_WORKERD_PATH"] = fileURLToPath(new URL("workerd.sh", import.meta.url));
  const { Log, LogLevel, Miniflare } = await import("miniflare");
  const removeItsHandlers = newSignalHandlers();
  const miniflare = new Miniflare({
    resourcePersistencePath: persistPath,
    cf: false,
    enableDevRegistry: false,
    telemetry: { enabled: false },
    logRequests: false,
    log: new Log(LogLevel.NONE),
    // A try that failed and succeeded later is no news; one that failed for good is told by its call.
    handleStructuredLogs: () => {},
    workers: [
      {
        config: {
          name: "store",
          compatibilityDate: "2026-11-17",
          manifest: {
            mainModule: "none.mjs",
            modulesRoot: "/",
            modules: { "none.mjs": { type: "esm", contents: "export default { fetch: () => new Response(null, { status: 404 }) };" } },
          },
          env: { RECORDS: { type: "kv", id: KV_NAMESPACE_ID }, STORE: { type: "r2", name: R2_BUCKET } },
        },
      },
    ],
  });
  removeItsHandlers();
  await miniflare.ready;
  return miniflare;
}

type Patiently = <T>(attempt: (earlierTries: number) => Promise<T>) => Promise<T>;

/**
 * workerd's SQLite answers BUSY instead of waiting when another process writes. It comes as an error with no code: every
 * error of a binding is taken for that and tried again. What is still an error then is the disk's or the store's own.
 */
function patientIn(stateDir: string): Patiently {
  return async (attempt) => {
    try {
      return await withRetry({ tries: TRIES, isRetryable: () => true }, attempt);
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
  const put = (key: string, content: Uint8Array | string, options: R2Condition) => bucket.put(key, bufferOf(content), options);
  return {
    get: (key) =>
      patiently(async () => {
        const found = await bucket.get(key);
        return found && storedObject(found, new Uint8Array(await found.arrayBuffer()));
      }),
    head: (key) =>
      patiently(async () => {
        const found = await bucket.head(key);
        return found && headOf(found);
      }),
    create: (key, content, metadata) =>
      patiently(async (earlierTries) => {
        const written = await put(key, content, { onlyIf: { etagDoesNotMatch: "*" }, ...withMetadata(metadata) });
        // An earlier try may have been committed although it was answered with an error: then what is there is ours.
        return written !== null || (earlierTries > 0 && (await holdsExactly(bucket, key, content)));
      }),
    put: async (key, content, metadata) => {
      await patiently(() => put(key, content, withMetadata(metadata)));
    },
    replace: (key, content, etag) =>
      patiently(async (earlierTries) => {
        const written = await put(key, content, { onlyIf: { etagMatches: etag } });
        return written !== null || (earlierTries > 0 && (await holdsExactly(bucket, key, content)));
      }),
    remove: (key) => patiently(() => bucket.delete(key)),
    list: (prefix) => patiently(() => listAll(bucket, prefix)),
  };
}

function projectionsOver(namespace: Kv, patiently: Patiently): Projections {
  return {
    get: (key) => patiently(() => namespace.get(key)),
    put: (key, value) => patiently(() => namespace.put(key, value)),
    remove: (key) => patiently(() => namespace.delete(key)),
  };
}

async function listAll(bucket: R2, prefix: string): Promise<ObjectHead[]> {
  const found: ObjectHead[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix, include: ["customMetadata"], ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.objects.map(headOf));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return found;
}

/** R2's etag of a single put is the MD5 of its bytes. */
async function holdsExactly(bucket: R2, key: string, content: Uint8Array | string): Promise<boolean> {
  const found = await bucket.head(key);
  return found?.etag === createHash("md5").update(bufferOf(content)).digest("hex");
}

/** R2 wants a value of known length. */
function bufferOf(content: Uint8Array | string): Buffer {
  return typeof content === "string" ? Buffer.from(content, "utf8") : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

function withMetadata(metadata: Record<string, string> | undefined): R2Condition {
  return metadata === undefined ? {} : { customMetadata: metadata };
}

function headOf(found: R2Head): ObjectHead {
  return { key: found.key, sizeBytes: found.size, etag: found.etag, metadata: found.customMetadata ?? {} };
}

function storedObject(found: R2Head, bytes: Uint8Array): StoredObject {
  return { bytes, etag: found.etag, metadata: found.customMetadata ?? {} };
}
