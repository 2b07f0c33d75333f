import { randomBytes } from "node:crypto";
import { type AnyRecord, type Kind, type Problem, Refused } from "@agent-env/protocol";
import type { Bundle, Entry } from "../bundle/bundle.ts";
import { checkEntity } from "../bundle/check.ts";
import { checkTask } from "../bundle/check-steps.ts";
import { checkStoreRefs } from "../bundle/check-store.ts";
import type { Checked } from "../bundle/checked.ts";
import type { EntrySources } from "../bundle/entry-sources.ts";
import { NOTHING_LOCKED } from "../bundle/lock-file.ts";
import { pauses } from "../bundle/pauses.ts";
import { type DigestCache, readDigests, unitContents } from "../bundle/plan-writes.ts";
import { recordBody } from "../bundle/record-body.ts";
import type { BuiltImage, ResolvedEntity, ResolvedEntry, ResolvedTask } from "../bundle/resolved.ts";
import { shownText } from "../bundle/shown.ts";
import { readStoreRefs, type StoreView } from "../bundle/store-refs.ts";
import { type WriteUnit, writeUnits } from "../bundle/units.ts";
import { lockWrites } from "../bundle/write-locks.ts";
import type { Emit } from "../report/events.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, putNextVersion, storedEnvType } from "../store/versions.ts";
import type { Registry } from "../types/registry.ts";
import type { RecordBody } from "../types/type.ts";
import type { PutMetadata } from "./metadata.ts";
import { putIdProblem, referenceProblem } from "./put-id.ts";

export type PutContext = {
  readonly store: Store;
  readonly registry: Registry;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** Shown to those who wait for the locks. */
  readonly owner: string;
};

/** One entity to put: an entry that no bundle has, judged and written as a bundle's is. */
export type PutEntity = {
  readonly resolved: ResolvedEntity | ResolvedTask;
  readonly sources: EntrySources | null;
  readonly platform: string | null;
  /** What the put adds to a record that has metadata. */
  readonly metadata: PutMetadata;
  /** What a record says its image is built in, where that isn't the entry. */
  readonly recorded?: (image: BuiltImage) => string;
};

/** An entity that was found fit to be put, with the records that it references. Nothing is written yet. */
export type CheckedPut = { readonly put: PutEntity; readonly checked: Checked; readonly view: StoreView };

/**
 * Judges what is to be put by the rules of a bundle's check and plan (B6), and by those of ids that a put has besides.
 * Writes nothing; all problems at once.
 */
export async function checkPut(
  put: PutEntity,
  { store, registry }: Pick<PutContext, "store" | "registry">,
): Promise<CheckedPut & { readonly problems: readonly Problem[] }> {
  const { resolved, sources } = put;
  const { entry } = resolved;
  const problems: Problem[] = [...idProblems(resolved), ...resolved.problems];
  const bundle = bundleOf(entry);
  const parts = await judged(resolved, sources, registry);
  const checked: Checked = { ...parts, bundle, problems: [] };
  const view = await readStoreRefs(bundle, resolved.refs, store, "in the store");
  problems.push(...parts.problems, ...checkStoreRefs(checked, view, registry));
  if (entry.kind === "env") problems.push(...(await typeChange(entry, store)));
  return { put, checked, view, problems };
}

type Judged = Pick<Checked, "entities" | "tasks" | "warnings" | "problems">;

async function judged(resolved: ResolvedEntity | ResolvedTask, sources: EntrySources | null, registry: Registry): Promise<Judged> {
  if (resolved.what === "task") return { ...checkTask(resolved, registry), entities: [], tasks: [resolved] };
  const { entity, problems } = await checkEntity({ resolved, sources, registry });
  return { entities: [entity], tasks: [], warnings: [], problems };
}

/** What a record is put as, newest last: the images that are built for it, then itself. */
export type Written = { readonly kind: Kind; readonly record: AnyRecord };

/**
 * Writes what was checked, each id's next version, images before what names them. Holds the ids' locks meanwhile, so that no
 * run writes them too. Builds nothing: a deploy does, where it needs to. Throws `Refused` for what has problems.
 */
export async function writePut(
  { put, checked, view, problems }: Awaited<ReturnType<typeof checkPut>>,
  context: PutContext,
): Promise<Written[]> {
  if (problems.length > 0) throw new Refused(problems);
  const { store, registry, emit, signal, owner } = context;
  const units = writeUnits(checked).map((unit) => recordedUnit(unit, put));
  const locks = await lockWrites(units, { store, owner, emit, signal });
  try {
    const attempt = randomBytes(8).toString("hex");
    const versions = new Map<string, number>();
    const digests: DigestCache = new Map();
    const written: Written[] = [];
    const pause = pauses(signal);
    for (const unit of units) {
      signal.throwIfAborted();
      await readDigests(unit, digests, pause);
      const contents = unitContents(unit, { versions, view, platform: put.platform }, digests);
      const body = await recordBody(contents, { store, registry, view, versions, attempt, signal });
      const fields = { id: unit.id, type: contents.inputs.type, ...withMetadata(body, put.metadata) };
      const record = await putNextVersion(store, unit.kind, fields, { "put-at": new Date().toISOString() });
      versions.set(unit.key, record.version);
      emit({ kind: "write", entry: unit.id, message: `v${record.version}`, version: record.version, reasons: [] });
      written.push({ kind: unit.kind, record });
    }
    return written;
  } finally {
    for (const lock of locks.reverse()) await lock.release();
  }
}

function recordedUnit(unit: WriteUnit, { recorded }: PutEntity): WriteUnit {
  return unit.what === "image" && recorded !== undefined ? { ...unit, entryPath: recorded(unit.image) } : unit;
}

/** Kinds of records that have metadata get the put's; the others have no place for it (4-bundle §11.2). */
function withMetadata(body: RecordBody, metadata: PutMetadata): RecordBody {
  const own = body["metadata"];
  return typeof own === "object" && own !== null ? { ...body, metadata: { ...own, ...metadata } } : body;
}

function idProblems({ entry, refs }: ResolvedEntry): Problem[] {
  const wrong = putIdProblem(entry.kind, entry.id);
  const own: Problem[] = wrong === null ? [] : [{ code: "bad-id", path: "--id", message: wrong }];
  const pointing = refs.flatMap(({ at, target }): Problem[] => {
    const message = referenceProblem(entry.id, target.id);
    return message === null ? [] : [{ code: "bad-ref", path: at, message }];
  });
  return [...own, ...pointing];
}

async function typeChange({ id, type }: Entry, store: Store): Promise<Problem[]> {
  const latest = await latestVersion(store, "env", id);
  const stored = await storedEnvType(store, id, latest);
  if (stored === null || stored === type) return [];
  const message = `${JSON.stringify(id)} is an env of type ${stored} in the store, and this is a ${type}: an id keeps its type, so give this one another id`;
  return [{ code: "type-changed", path: "--id", message: shownText(message) }];
}

/** What is put belongs to no bundle: it has no neighbours, and its id no root. */
export function bundleOf({ disk, name }: Entry): Bundle {
  return { disk, name, idRoot: "", description: null, entries: [], ignored: [], locked: NOTHING_LOCKED };
}
