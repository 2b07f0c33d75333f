import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type AnyRecord,
  DockerImageRecord,
  derivedId,
  FileRecord,
  imageSuffix,
  type Kind,
  LOCAL_PREFIX,
  UserError,
  VersionedRef,
} from "@agent-env/protocol";
import { stringify } from "smol-toml";
import { ioReason } from "../bundle/config-file.ts";
import { doneRow, type LedgerRow } from "../bundle/ledger.ts";
import { mapPath } from "../bundle/map-path.ts";
import { TOML_OF } from "../bundle/parse-folder.ts";
import { pauses } from "../bundle/pauses.ts";
import { writeKey } from "../bundle/resolved.ts";
import { readContext, storedEntries } from "../images/stored-context.ts";
import { putIdProblem } from "../put/put-id.ts";
import { putFileAnew, readBlob, readFileBlob } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import { requiredVersion } from "../store/versions.ts";
import { imageKeys } from "../types/image-keys.ts";
import { pinOf } from "../types/refs.ts";
import { findType, type Registry } from "../types/registry.ts";
import type { BundleType, Fields, FolderOut } from "../types/type.ts";
import { contextChanges, type ExportedImage } from "./context-changes.ts";
import { type FolderContent, folderContent } from "./folder-content.ts";

export type ExportContext = { readonly store: Store; readonly registry: Registry; readonly signal: AbortSignal };

export type Exported = {
  readonly folder: string;
  readonly id: string;
  readonly version: number;
  /** What a toml can't carry, a line each. */
  readonly left_out: readonly string[];
  /** Images whose context isn't what it was, now that the toml lies in it, and why: a run of the folder writes them anew. */
  readonly changed: readonly string[];
};

const KINDS = { env: "envs", agent: "agents", artifact: "artifacts" } as const;

/**
 * Writes a stored version as the folder that a bundle would hold for it (4-bundle §12), all or nothing: `folder` must not
 * be there. It sets `id`, so that a bundle with it goes on where the record stands.
 */
export async function exportRecord(kind: keyof typeof KINDS, record: AnyRecord, folder: string, context: ExportContext): Promise<Exported> {
  const { id, version } = record;
  refuseOverwriting(folder);
  const { store, registry } = context;
  const type = typeOf(kind, record, registry);
  const content = folderContent(id);
  const row = await doneRow(store, kind, id, version);
  const found = await tomlOf(type, record, { store, registry, content, row });
  const toml = tomlName(kind, type);
  const leftOut = [...found.leftOut];
  const noId = toml === null ? "it has no toml" : idProblem(kind, id);
  if (noId !== null) leftOut.push(`id: ${noId}`);
  const identity = noId === null ? { id } : {};
  if (toml !== null && content.has(toml)) {
    throw new UserError({
      what: `${id}: can't be exported: the context of its image holds ${toml}`,
      why: `the folder gets its own ${toml}, which would be built into the image in its place`,
      next: `name ${toml} in the image's .dockerignore, write it anew, and export that version`,
    });
  }
  const text = toml === null ? null : stringify({ type: type.type, ...identity, ...found.toml });
  // Read only now: up to here nothing has to be taken down.
  const { signal } = context;
  const changed = await writeAtOnce(folder, signal, async (disk) => {
    await content.write(disk, pauses(signal));
    if (toml !== null && text !== null) writeFileSync(join(disk, toml), text);
    return contextChanges(disk, found.images);
  });
  return { folder, id, version, left_out: leftOut, changed };
}

function typeOf(kind: Kind, record: AnyRecord, registry: Registry): BundleType {
  const type = findType(registry, kind, record.type);
  if (type !== undefined && (type.writes !== "folder" || type.export !== undefined)) return type;
  throw new UserError({
    what: `${record.id}: ${kind}s of type ${record.type} can't be exported`,
    why: type === undefined ? "no bundle has entries of that type" : "its type doesn't say how",
    next: `agent-env ${kind === "env" ? "env show" : "artifact get"} --help`,
  });
}

/** Why a toml can't set that id; null if it can. */
function idProblem(kind: Kind, id: string): string | null {
  if (!id.startsWith(LOCAL_PREFIX)) return `${JSON.stringify(id)} is of a shared store, and a bundle's ids start with ${LOCAL_PREFIX}`;
  return putIdProblem(kind, id);
}

function tomlName(kind: keyof typeof KINDS, type: BundleType): string | null {
  return "hasToml" in type && type.hasToml === false ? null : TOML_OF[KINDS[kind]];
}

type Parts = Omit<ExportContext, "signal"> & { readonly content: FolderContent; readonly row: LedgerRow | null };
type Toml = {
  readonly toml: Readonly<Record<string, unknown>>;
  readonly leftOut: readonly string[];
  readonly images: readonly ExportedImage[];
};

/** The toml's keys, each image in it as what is built here, each reference as it was written where the ledger knows. */
async function tomlOf(type: BundleType, record: AnyRecord, parts: Parts): Promise<Toml> {
  const fields = type.export === undefined ? type.read(record) : await type.export(record, folderOut(record, parts));
  const images: ExportedImage[] = [];
  if (type.writes === "image") images.push(await exportImage("image", record, parts));
  const own = new Map<string, ExportedImage>();
  for (const key of imageKeys(type)) {
    const image = await ownImage(type, key, fields, record, parts);
    if (image !== null) own.set(key, image);
  }
  images.push(...own.values());
  const refs = type.tomlRefs.filter(({ path }) => !own.has(path));
  const mapped = refs.reduce<Readonly<Record<string, unknown>>>(
    (config, { path, kind }) => mapPath(config, path, (ref) => asWritten(kind, ref, parts.row)),
    fields,
  );
  const built = Object.fromEntries([...own].map(([key, { dockerfile }]) => [key, { dockerfile }]));
  const platforms = images.filter(({ platform }) => platform !== null).map(({ key, platform }) => `${key}: its platform, ${platform}`);
  return { toml: { ...mapped, ...built }, leftOut: [...leftMetadata(record, fields), ...platforms], images };
}

/** An image that was built for the entity itself: another one is an artifact that stands for itself. */
async function ownImage(type: BundleType, key: string, fields: Fields, record: AnyRecord, parts: Parts): Promise<ExportedImage | null> {
  const { id, version } = pinOf(fields[key]);
  if (version === null || id !== derivedId(record.id, imageSuffix(type.kind === "agent" ? "agent" : "env", key))) return null;
  return exportImage(key, await requiredVersion(parts.store, "artifact", { id, version }, "image"), parts);
}

async function exportImage(key: string, record: AnyRecord, { store, content }: Parts): Promise<ExportedImage> {
  const image = DockerImageRecord.parse(record);
  const entries = await storedEntries(store, image);
  for (const entry of entries) content.add(entry);
  return { key, dockerfile: image.dockerfile_path, platform: image.platform, digest: image.source_digest, entries };
}

function folderOut(record: AnyRecord, { store, content, row }: Parts): FolderOut {
  return {
    artifact: (ref) => requiredVersion(store, "artifact", VersionedRef.parse(ref)),
    async file(path, file) {
      const bytes = await readFileBlob(store, FileRecord.parse(file));
      content.add({ kind: "file", path, bytes: () => bytes, executable: row?.inputs.files[path]?.endsWith("+x") ?? false });
    },
    async archive(objectUrl) {
      const reading = { of: `${record.id} v${record.version}: its content`, next: putFileAnew(record.id) };
      for (const entry of await readContext(await readBlob(store.of(record.id), objectUrl, reading))) content.add(entry);
    },
  };
}

/** Without a version where its author gave none: the ledger tells those apart. A put leaves no row, so it stays pinned. */
function asWritten(kind: Kind, ref: unknown, row: LedgerRow | null): unknown {
  const { id, version } = pinOf(ref);
  const key = writeKey(kind, id);
  const isOpen = row !== null && (Object.hasOwn(row.inputs.needs, key) || Object.hasOwn(row.inputs.store_refs, key));
  return isOpen || version === null ? id : { [kind]: id, version };
}

function leftMetadata({ metadata }: AnyRecord, fields: Fields): string[] {
  if (typeof metadata !== "object" || metadata === null) return [];
  const kept = fields["metadata"];
  const isKept = (key: string): boolean => typeof kept === "object" && kept !== null && Object.hasOwn(kept, key);
  const left = Object.keys(metadata).filter((key) => !isKept(key));
  return left.length === 0 ? [] : [`metadata: ${left.join(", ")}`];
}

function isThere(folder: string): boolean {
  try {
    return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw cannotMake(folder, error);
  }
}

/** An empty folder in the one that `folder` will be in, which is made where it isn't there. */
function newDraft(folder: string): string {
  const draft = join(dirname(folder), `.export.${randomBytes(4).toString("hex")}`);
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(draft);
    return draft;
  } catch (error) {
    throw cannotMake(folder, error);
  }
}

function cannotMake(folder: string, error: unknown): UserError {
  const reason = ioReason(error);
  // What makes all folders above it still meets this in file systems as /proc, and behind a broken link.
  const isNoPlace = error instanceof Error && "code" in error && error.code === "ENOENT";
  const why = `the system makes no folder there: ${isNoPlace ? "what lies above it takes none" : reason}`;
  return new UserError(
    { what: `--out: ${JSON.stringify(folder)} can't be made`, why, next: "name a folder in one that you can write to" },
    { cause: error },
  );
}

function refuseOverwriting(folder: string): void {
  if (!isThere(folder)) return;
  throw new UserError({
    what: `--out: ${JSON.stringify(folder)} is there already`,
    why: "an export overwrites nothing",
    next: "name a folder that isn't there yet",
  });
}

/** Fills a folder beside `folder`, and gives it that name when all is written. Nothing of it stays otherwise. */
async function writeAtOnce<T>(folder: string, signal: AbortSignal, fill: (disk: string) => Promise<T>): Promise<T> {
  const draft = newDraft(folder);
  try {
    const result = await fill(draft);
    signal.throwIfAborted();
    refuseOverwriting(folder);
    renameSync(draft, folder);
    return result;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}
