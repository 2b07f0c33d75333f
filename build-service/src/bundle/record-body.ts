import { type AnyRecord, derivedId, type VersionedRef } from "@agent-env/protocol";
import { hashedBytes, packedContext } from "../images/context.ts";
import { hexOf } from "../images/digest.ts";
import { imageRecordFields } from "../images/record-fields.ts";
import { COMMON_FIELDS } from "../run/steps/every-step.ts";
import { putBlob } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import { createVersion, finishVersion, latestVersion, readableVersion, readVersion } from "../store/versions.ts";
import { pinOf } from "../types/refs.ts";
import { type Registry, stepType } from "../types/registry.ts";
import type { FolderWriter, Load, RecordBody } from "../types/type.ts";
import type { Step } from "./bundle.ts";
import { canonicalJson } from "./canonical.ts";
import { imageDescription, type UnitPlan } from "./plan-writes.ts";
import { writeKey } from "./resolved.ts";
import type { StoreView } from "./store-refs.ts";
import type { WriteUnit } from "./units.ts";

/** A write, whatever is decided about it. */
export type UnitContents = Pick<UnitPlan, "unit" | "inputs" | "source">;

export type BodyContext = {
  readonly store: Store;
  readonly registry: Registry;
  readonly view: StoreView;
  /** Versions of what this run has written before. */
  readonly versions: ReadonlyMap<string, number>;
  readonly attempt: string;
  readonly signal: AbortSignal;
};

/** What a record says beside its id, type and version. Everything that it names by digest is put into the store first. */
export async function recordBody(plan: UnitContents, context: BodyContext): Promise<RecordBody> {
  const { unit } = plan;
  switch (unit.what) {
    case "image":
      return imageBody(plan, unit, context);
    case "task":
      return { steps: unit.task.steps.map((step) => writtenStep(step, context.registry)) };
    case "entity": {
      const { type } = unit.entity.resolved;
      const load = loader(unit, context);
      if (type.writes === "record") return type.write(unit.entity.fields, load);
      if (type.writes === "folder") return type.writeFolder(unit.entity.fields, folderWriter(plan, unit, context), load);
      throw new Error(`${unit.label}: an image folder has no record beside its image's`);
    }
  }
}

async function imageBody(
  { source }: UnitContents,
  unit: WriteUnit & { readonly what: "image" },
  context: BodyContext,
): Promise<RecordBody> {
  if (source === null) throw new Error(`${unit.label}: an image without a source`);
  return { description: imageDescription(unit), ...(await imageRecordFields(unit.id, source, context)) };
}

/** A step as its type writes it out, defaults filled in, with what every step has. */
function writtenStep(step: Step, registry: Registry): RecordBody {
  const common = Object.fromEntries(COMMON_FIELDS.filter((key) => key in step).map((key) => [key, step[key]]));
  return { ...common, ...stepType(registry, step.type)?.writeOut(step) };
}

/** Gives the records that the entity declares references to; another one would be an input that the ledger doesn't know. */
function loader(unit: WriteUnit & { readonly what: "entity" }, { store, view, versions }: BodyContext): Load {
  const { refs, builds } = unit.entity.resolved;
  const declared = new Set([
    ...refs.map(({ target }) => writeKey(target.kind, target.id)),
    ...builds.map(({ id }) => writeKey("artifact", id)),
  ]);

  async function load(kind: "env" | "artifact", ref: unknown): Promise<AnyRecord> {
    const { id, version: pinned } = pinOf(ref);
    const key = writeKey(kind, id);
    if (!declared.has(key)) throw new Error(`${unit.label}: ${key} is loaded, and its type declares no reference to it`);
    const version = pinned ?? versions.get(key) ?? view.record(kind, id, null)?.version;
    const record = version === undefined ? null : await readVersion(store, kind, id, version);
    if (record === null) throw new Error(`${unit.label}: ${key} v${version} is gone since it was planned`);
    return record;
  }
  return { env: (ref) => load("env", ref), artifact: (ref) => load("artifact", ref) };
}

function folderWriter(
  plan: UnitContents,
  unit: WriteUnit & { readonly what: "entity" },
  { store, attempt, signal }: BodyContext,
): FolderWriter {
  return {
    id: unit.id,
    files: unit.entity.sources?.files().files ?? [],
    async blob(file) {
      signal.throwIfAborted();
      const sha256 = hexOf(plan.inputs.files[file.path] ?? "");
      const bytes = hashedBytes(file.disk, sha256, `${unit.entryPath}/${file.path}`);
      return { objectUrl: await putBlob(store.of(unit.id), bytes), sha256, size: bytes.length };
    },
    archive: async () => {
      const { files } = plan.inputs;
      const disks = new Map(unit.entity.sources?.files().files.map(({ path, disk }) => [path, disk]));
      const tar = await packedContext(
        files,
        (path, sha256) => hashedBytes(disks.get(path) ?? path, sha256, `${unit.entryPath}/${path}`),
        signal,
      );
      return putBlob(store.of(unit.id), tar);
    },
    child: (suffix, type, body) => writeChild(store, { id: derivedId(unit.id, suffix), type, ...body }, attempt),
  };
}

/** A child's next version, or its latest when that says the same: so a file that didn't change keeps its version. */
async function writeChild(
  store: Store,
  body: RecordBody & { readonly id: string; readonly type: string },
  attempt: string,
): Promise<VersionedRef> {
  const { id } = body;
  const latest = await latestVersion(store, "artifact", id);
  const last = latest === 0 ? null : await readableVersion(store, "artifact", id, latest);
  if (last !== null && canonicalJson({ ...body, version: latest }) === canonicalJson(last)) {
    await finishVersion(store, "artifact", last);
    return { id, version: latest };
  }
  const record = { ...body, version: latest + 1 };
  if (!(await createVersion(store, "artifact", record, { attempt })))
    throw new Error(`${id}: v${latest + 1} was written by something else`);
  await finishVersion(store, "artifact", record);
  return { id, version: latest + 1 };
}
