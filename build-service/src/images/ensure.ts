import type { DockerImageRecord } from "@agent-env/protocol";
import { encodedId } from "../bundle/ids.ts";
import type { Emit } from "../report/events.ts";
import { putBlob } from "../store/blobs.ts";
import { highest } from "../store/highest.ts";
import { parseStored } from "../store/json.ts";
import type { Store, StoreSide } from "../store/store.ts";
import { BuildFailed } from "./build.ts";
import { BuildRow, type ImageBuilder } from "./builder.ts";
import type { Locked } from "./locked.ts";
import { readContextTar } from "./stored-context.ts";

export type EnsureRequest = {
  readonly store: Store;
  readonly record: DockerImageRecord;
  /** Shown in events: `envs/items (Dockerfile image)`. */
  readonly entry: string;
  readonly builder: ImageBuilder;
  /** What a bundle fixes; left out: an image that is built again takes the bases that its last build took by digest. */
  readonly locked?: Locked;
  /** No step's earlier result is used, if it is built. */
  readonly isFresh?: boolean;
  readonly emit: Emit;
  readonly signal: AbortSignal;
};

/**
 * The Engine's image of a record's version: the one that the newest build row names where the Engine still holds it, else
 * built from the stored context as the next row, for a reason that is emitted (4-bundle §10.3). The record itself need not
 * be written yet; its context must be. Safe to call at once from several processes.
 */
export async function ensureBuilt(request: EnsureRequest): Promise<{ engineImageId: string; built: boolean }> {
  const { store, record, entry, builder, emit, signal } = request;
  const prefix = await rowPrefix(record, builder);
  const held = await heldRow(request, prefix);
  if ("engineImageId" in held) return reused(held.engineImageId, request);

  const lock = await store
    .of(record.id)
    .lock(
      `build/${record.id}`,
      `building ${entry}`,
      (holder) => emit({ kind: "wait", entry, message: `waits for its image: ${holder}` }),
      signal,
    );
  try {
    // Whoever held the lock may have built it.
    const now = await heldRow(request, prefix);
    if ("engineImageId" in now) return reused(now.engineImageId, request);
    if (now.reason !== null) emit({ kind: "image", entry, phase: "start", message: now.reason });
    const locked = request.locked ?? new Map(Object.entries(now.locked));
    return { engineImageId: await buildAsRow({ ...request, locked }, prefix, now.n + 1), built: true };
  } finally {
    await lock.release();
  }
}

/** The version of an image that is built, and for what; null: for the Engine's own platform. */
type BuiltVersion = Pick<DockerImageRecord, "id" | "version" | "platform">;

/** The newest build row of an image's version on its platform: the highest n. Null when it was never built there. */
export async function newestBuildRow(
  store: Store,
  image: BuiltVersion,
  builder: Pick<ImageBuilder, "platform">,
): Promise<{ readonly n: number; readonly row: BuildRow } | null> {
  return newestRow(store.of(image.id), await rowPrefix(image, builder));
}

async function rowPrefix(image: BuiltVersion, builder: Pick<ImageBuilder, "platform">): Promise<string> {
  const platform = image.platform ?? (await builder.platform());
  return `builds/${encodedId(image.id)}/${image.version}/${platform.replaceAll("/", "-")}/`;
}

async function newestRow({ objects }: StoreSide, prefix: string): Promise<{ readonly n: number; readonly row: BuildRow } | null> {
  const n = await highest(1, async (number) => (await objects.head(`${prefix}${number}.json`)) !== null);
  if (n === 0) return null;
  const key = `${prefix}${n}.json`;
  const found = await objects.get(key);
  if (found === null) throw new Error(`${key} was found and is gone`);
  return { n, row: parseStored(key, found.bytes, BuildRow) };
}

type Held = { readonly n: number } & (
  | { readonly engineImageId: string }
  | { readonly reason: string | null; readonly locked: Readonly<Record<string, string>> }
);

async function heldRow({ store, record, builder }: EnsureRequest, prefix: string): Promise<Held> {
  const newest = await newestRow(store.of(record.id), prefix);
  if (newest === null) return { n: 0, reason: null, locked: {} };
  const { n, row } = newest;
  const { locked = {} } = row;
  if (row.source_digest !== record.source_digest) {
    return {
      n,
      locked,
      reason: "built again: the last build of this version was of other files, by a run that ended before it wrote the version",
    };
  }
  if (await builder.holds(row.image_id)) return { n, engineImageId: row.image_id };
  return { n, locked, reason: `built again: the Engine has lost ${row.image_id} of ${row.built_at}; its files come from the store` };
}

function reused(engineImageId: string, { entry, emit }: EnsureRequest): { engineImageId: string; built: false } {
  emit({ kind: "image", entry, phase: "reused", message: `reused: the Engine holds ${engineImageId}` });
  return { engineImageId, built: false };
}

async function buildAsRow(request: EnsureRequest & { readonly locked: Locked }, prefix: string, n: number): Promise<string> {
  const { store, record, entry, builder, locked, isFresh = false, emit, signal } = request;
  const side = store.of(record.id);
  const context = await readContextTar(store, record);
  try {
    const result = await builder.build(
      {
        entry,
        imageId: record.id,
        sourceDigest: record.source_digest,
        dockerfile: record.dockerfile_path,
        platform: record.platform,
        tag: record.image_name,
        context,
        locked,
        isFresh,
      },
      emit,
      signal,
    );
    const row: BuildRow = {
      image_id: result.engineImageId,
      source_digest: record.source_digest,
      bases: result.bases,
      ...(Object.keys(result.locked ?? {}).length === 0 ? {} : { locked: result.locked }),
      built_at: new Date().toISOString(),
      log: await putBlob(side, Buffer.from(result.log)),
    };
    const key = `${prefix}${n}.json`;
    if (!(await side.objects.create(key, `${JSON.stringify(row)}\n`)))
      throw new Error(`${key}: written by another process in spite of the lock`);
    return result.engineImageId;
  } catch (error) {
    if (error instanceof BuildFailed) {
      emit({
        kind: "log",
        entry,
        level: "detail",
        message: `the whole log is in the store: ${await putBlob(side, Buffer.from(error.log))}`,
      });
    }
    throw error;
  }
}
