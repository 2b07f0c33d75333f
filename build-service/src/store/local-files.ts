import { createHash, createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Bindings, R2Head, R2ListOptions, R2Page } from "./bindings.ts";
import { R2_BUCKET } from "./miniflare.ts";

/** The class of Miniflare's objects that hold a bucket's keys; its databases lie in a folder of that name. */
const BUCKET_CLASS = "miniflare-R2BucketObject";

/** A checkpoint, or the last writer's end, locks readers out for as long as it takes. */
const BUSY_BUDGET_MS = 5_000;

/** Above every character that a key's prefix can be followed by. */
const LAST_CHARACTER = "\u{10ffff}";

/**
 * Miniflare's R2 and KV over the files in `persistPath`, where objects are read without starting it: that takes two seconds,
 * and a command that finds nothing to do only reads. What is written, and KV, goes through `start`, called once at the first
 * need. SQLite shows a reader every write that was acknowledged (write-ahead log), and one that is under way not at all.
 */
export function localFiles(persistPath: string, start: () => Promise<Bindings>): Bindings {
  let started: Promise<Bindings> | null = null;
  const miniflare = (): Promise<Bindings> => {
    started ??= start();
    return started;
  };
  const index = bucketIndex(persistPath);
  return {
    bucket: {
      head: async (key) => index.head(key),
      async get(key) {
        for (let row = index.head(key), earlier: Row | null = null; row !== null; earlier = row, row = index.head(key)) {
          const bytes = await contentOf(persistPath, row);
          if (bytes !== null) return { ...row, bytes };
          // Gone while the key says the same: not a write that came between the two reads. Miniflare knows, or says why.
          if (row.blobId === earlier?.blobId) return (await miniflare()).bucket.get(key);
        }
        return null;
      },
      list: async (options) => index.list(options),
      put: async (...args) => (await miniflare()).bucket.put(...args),
      delete: async (key) => (await miniflare()).bucket.delete(key),
    },
    namespace: {
      get: async (key) => (await miniflare()).namespace.get(key),
      list: async (options) => (await miniflare()).namespace.list(options),
      put: async (...args) => (await miniflare()).namespace.put(...args),
      delete: async (key) => (await miniflare()).namespace.delete(key),
    },
    async close() {
      index.close();
      await (await started)?.close();
    },
  };
}

type Row = R2Head & { readonly blobId: string | null };

/** The keys of the bucket, from its own database; none as long as that isn't there. */
function bucketIndex(persistPath: string) {
  const path = join(persistPath, "r2", BUCKET_CLASS, `${objectId(BUCKET_CLASS, R2_BUCKET)}.sqlite`);
  let opened: { readonly database: DatabaseSync; readonly one: StatementSync; readonly page: StatementSync } | null = null;

  function open(): typeof opened {
    if (opened !== null || !existsSync(path)) return opened;
    const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_BUDGET_MS });
    const columns = "SELECT key, blob_id, size, etag, uploaded, custom_metadata FROM _mf_objects";
    opened = {
      database,
      one: database.prepare(`${columns} WHERE key = ?`),
      page: database.prepare(`${columns} WHERE key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?`),
    };
    return opened;
  }

  return {
    head(key: string): Row | null {
      const row = open()?.one.get(key);
      return row === undefined ? null : rowOf(row);
    },
    list({ prefix, cursor = "", limit = Number.MAX_SAFE_INTEGER - 1 }: R2ListOptions): R2Page {
      const rows = open()?.page.all(prefix, `${prefix}${LAST_CHARACTER}`, cursor, limit + 1) ?? [];
      const objects = rows.slice(0, limit).map(rowOf);
      const last = objects.at(-1);
      return rows.length > limit && last !== undefined ? { objects, truncated: true, cursor: last.key } : { objects, truncated: false };
    },
    close(): void {
      opened?.database.close();
      opened = null;
    },
  };
}

function rowOf(row: Readonly<Record<string, unknown>>): Row {
  const { key, blob_id: blobId, size, etag, uploaded, custom_metadata: metadata } = row;
  return {
    key: String(key),
    blobId: typeof blobId === "string" ? blobId : null,
    size: Number(size),
    etag: String(etag),
    uploaded: new Date(Number(uploaded)),
    customMetadata: JSON.parse(String(metadata)),
  };
}

/** Null where the content isn't one file that is still there. */
async function contentOf(persistPath: string, { blobId }: Row): Promise<Uint8Array | null> {
  if (blobId === null) return null;
  try {
    return await readFile(join(persistPath, "r2", R2_BUCKET, "blobs", blobId));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** The id of a Durable Object by its name, as workerd makes it: the name of the object's database. */
function objectId(className: string, name: string): string {
  const key = createHash("sha256").update(className).digest();
  const half = (data: string | Buffer): Buffer => createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const first = half(name);
  return Buffer.concat([first, half(first)]).toString("hex");
}
