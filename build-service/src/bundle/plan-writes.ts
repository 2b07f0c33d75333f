import type { ImageBuilder, ImageSource } from "../images/builder.ts";
import { fileDigests, imageSource } from "../images/context.ts";
import type { FileDigest } from "../images/digest.ts";
import { newestBuildRow } from "../images/ensure.ts";
import { type Locked, lockedReference } from "../images/locked.ts";
import type { Store } from "../store/store.ts";
import { builtFrom } from "../types/docker-image.ts";
import { canonicalDigest } from "./canonical.ts";
import type { Checked } from "./checked.ts";
import { type Decision, decideWrite } from "./decide.ts";
import type { EntryFile } from "./folder-files.ts";
import type { LedgerInputs } from "./ledger.ts";
import { REBUILD_ASKED } from "./rebuild.ts";
import { writeKey } from "./resolved.ts";
import type { StoreView } from "./store-refs.ts";
import { type WriteUnit, writeUnits } from "./units.ts";
import { writeOrder } from "./write-order.ts";

/** A write with what has been decided about it. */
export type UnitPlan = {
  readonly unit: WriteUnit;
  readonly inputs: LedgerInputs;
  readonly decision: Decision;
  /** What an image is built from; null for all else. */
  readonly source: ImageSource | null;
};

/** What is asked of an Engine to see whether an image's bases have changed there. */
export type BaseLookup = Pick<ImageBuilder, "idsOf" | "platform">;

export type DecideContext = {
  /** The bundle's id root, which the ledger's rows name. */
  readonly idRoot: string;
  readonly view: StoreView;
  readonly store: Store;
  /** Left out: bases are not looked at. */
  readonly engine: BaseLookup | undefined;
  readonly locked: Locked;
  /** The keys of images that are written anew whatever they are made from. */
  readonly rebuild: ReadonlySet<string>;
};

/** Decides every write in the order of making, each with the versions that those before it will have. */
export async function decideAll(checked: Checked, platform: string | null, context: DecideContext): Promise<UnitPlan[]> {
  const { ordered, problems } = writeOrder(writeUnits(checked));
  if (problems.length > 0) throw new Error("a bundle with a loop passed its check");
  const versions = new Map<string, number>();
  const digests: DigestCache = new Map();
  const plans: UnitPlan[] = [];
  for (const unit of ordered) {
    const { inputs, source } = unitContents(unit, { versions, view: context.view, platform }, digests);
    const decision = await decideUnit({ unit, inputs, source }, context);
    versions.set(unit.key, decision.version);
    plans.push({ unit, inputs, decision, source });
  }
  return plans;
}

/** What one write is made from: by itself, and of the versions that it references. `digests` is used, and added to. */
export function unitContents(
  unit: WriteUnit,
  from: { readonly versions: ReadonlyMap<string, number>; readonly view: StoreView; readonly platform: string | null },
  digests: DigestCache,
): { readonly unit: WriteUnit; readonly inputs: LedgerInputs; readonly source: ImageSource | null } {
  const source = unit.what === "image" ? sourceOf(unit, from.platform, digests) : null;
  const inputs = { ...contentsOf(unit, source, digests), ...referencesOf(unit, from.versions, from.view) };
  return { unit, inputs, source };
}

/** Decides one write again, by the versions that the writes before it have got by now. */
export async function decideAgain(plan: UnitPlan, versions: ReadonlyMap<string, number>, context: DecideContext): Promise<UnitPlan> {
  const inputs = { ...plan.inputs, ...referencesOf(plan.unit, versions, context.view) };
  const { unit, source } = plan;
  return { unit, source, inputs, decision: await decideUnit({ unit, source, inputs }, context) };
}

async function decideUnit(
  { unit, inputs, source }: Pick<UnitPlan, "unit" | "inputs" | "source">,
  { store, engine, idRoot, locked, rebuild }: DecideContext,
): Promise<Decision> {
  const { kind, id } = unit;
  const write = { kind, id, bundle: idRoot, inputs };
  if (source === null) return decideWrite(store, write);
  const asked = rebuild.has(unit.key) ? [REBUILD_ASKED] : [];
  const decision = await decideWrite(store, write, async (version) => {
    const image = { id, version, platform: source.platform };
    return [...(engine === undefined ? [] : await changedBases(store, image, { engine, locked })), ...asked];
  });
  // What is written anew for another reason is built without the cache all the same.
  return decision.reasons.includes(REBUILD_ASKED) ? decision : { ...decision, reasons: [...decision.reasons, ...asked] };
}

/** Digests of files by their place on the disk, so that what two images share is read once. */
export type DigestCache = Map<string, FileDigest>;

/** Reads the digests of all files that a write is made from, so that `unitContents` takes no time; `pause` is called after each. */
export async function readDigests(unit: WriteUnit, digests: DigestCache, pause: () => Promise<void>): Promise<void> {
  for (const file of filesOf(unit)) {
    fileDigests([file], unit.entryPath, digests);
    await pause();
  }
}

function filesOf(unit: WriteUnit): readonly EntryFile[] {
  if (unit.what === "image") return unit.entity.sources?.context(unit.image).files ?? [];
  return unit.what === "entity" && unit.entity.resolved.type.writes === "folder" ? (unit.entity.sources?.files().files ?? []) : [];
}

function sourceOf(unit: WriteUnit & { readonly what: "image" }, platform: string | null, digests: DigestCache): ImageSource {
  const { dockerfile } = unit.image;
  const { files = [], others = [] } = unit.entity.sources?.context(unit.image) ?? {};
  return imageSource({ files, others, dockerfile, platform, shown: unit.entryPath, digests });
}

/** The inputs that a write has by itself, whatever it references (4-bundle §9.2). */
function contentsOf(unit: WriteUnit, source: ImageSource | null, digests: DigestCache): Pick<LedgerInputs, "type" | "config" | "files"> {
  switch (unit.what) {
    case "image": {
      const { type } = unit.entity.resolved;
      const config = { dockerfile: unit.image.dockerfile, platform: source?.platform ?? null };
      const described = type.writes === "image" ? { ...config, description: imageDescription(unit) } : config;
      return { type: "docker_image", config: canonicalDigest(described), files: source?.files ?? {} };
    }
    case "entity": {
      const { resolved, fields } = unit.entity;
      const files = fileDigests(filesOf(unit), unit.entryPath, digests);
      // An eval's list is its config; its references have no versions.
      return { type: resolved.type.type, config: canonicalDigest(resolved.entry.kind === "eval" ? fields["tasks"] : fields), files };
    }
    case "task":
      return { type: unit.entry.type, config: canonicalDigest(unit.task.steps), files: {} };
  }
}

/** What an image's record says about it: the author's words, or the Dockerfile that it is built from. */
export function imageDescription(unit: WriteUnit & { readonly what: "image" }): string {
  const { description } = unit.entity.resolved.type.writes === "image" ? unit.entity.fields : {};
  return typeof description === "string" ? description : builtFrom(unit.entryPath, unit.image.dockerfile);
}

/** Versions of what a write references: by this run's earlier writes, and by what the plan read in the store. */
function referencesOf(unit: WriteUnit, versions: ReadonlyMap<string, number>, view: StoreView): Pick<LedgerInputs, "needs" | "store_refs"> {
  if (unit.what !== "entity" || unit.kind === "eval") return { needs: {}, store_refs: {} };
  const needs = unit.needs.map((key) => {
    const version = versions.get(key);
    if (version === undefined) throw new Error(`${unit.label}: ${key} isn't written before it`);
    return [key, String(version)] as const;
  });
  const storeRefs = unit.entity.resolved.refs
    .filter(({ target, version }) => target.in === "store" && version === null)
    .map(({ target }) => [writeKey(target.kind, target.id), String(view.record(target.kind, target.id, null)?.version)] as const);
  return { needs: Object.fromEntries(needs), store_refs: Object.fromEntries(storeRefs) };
}

/** Which base images the Engine now holds under another id than when that version was built last (4-bundle §10.4). */
async function changedBases(
  store: Store,
  image: Parameters<typeof newestBuildRow>[1],
  { engine, locked }: { readonly engine: BaseLookup; readonly locked: Locked },
): Promise<string[]> {
  const newest = await newestBuildRow(store, image, engine);
  if (newest === null) return [];
  const { bases, locked: built = {} } = newest.row;
  const held = await engine.idsOf(Object.keys(bases).map((reference) => lockedReference(reference, locked)));
  const isChanged = ([reference, engineId]: readonly [string, string]): boolean => {
    const now = held[lockedReference(reference, locked)];
    const digest = locked.get(reference);
    // A base that is fixed to another digest has changed, whether or not the Engine has fetched it yet.
    if (digest !== undefined && built[reference] !== digest) return now !== engineId;
    return now !== undefined && now !== engineId;
  };
  return Object.entries(bases)
    .filter(isChanged)
    .map(([reference]) => `base image changed: ${reference}`)
    .sort();
}
