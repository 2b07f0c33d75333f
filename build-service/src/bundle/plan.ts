import { posix } from "node:path";
import { FileRecord, type Kind, type Problem, sortedProblems } from "@agent-env/protocol";
import type { ImageSource } from "../images/builder.ts";
import { emptyStore } from "../store/empty.ts";
import type { Store } from "../store/store.ts";
import { BUILT_IN, type Registry } from "../types/registry.ts";
import type { Bundle, Step } from "./bundle.ts";
import { checkEntries } from "./check.ts";
import { checkAgainstStore } from "./check-store.ts";
import { type Checked, entityById, type Warning } from "./checked.ts";
import type { InstalledBundle } from "./id-root.ts";
import { parseBundle } from "./parse.ts";
import { type BaseLookup, decideAll, type UnitPlan } from "./plan-writes.ts";
import { type Rebuild, rebuildKeys } from "./rebuild.ts";
import { resolveBundle } from "./resolve.ts";
import { type ResolvedRef, writeKey } from "./resolved.ts";
import { type Selection, selectEntries } from "./selection.ts";
import { readStoreRefs, type StoreRef, type StoreView } from "./store-refs.ts";
import { bundleWarnings } from "./warnings.ts";

/** One version that a run writes, or finds written. */
export type PlannedWrite = {
  readonly kind: Kind;
  readonly id: string;
  readonly type: string;
  /** As it is shown: `envs/items`, `envs/items (Dockerfile image)`. */
  readonly entry: string;
  readonly version: number;
  readonly unchanged: boolean;
  /** Why it is written anew. Empty when it is unchanged, unless an interrupted run wrote it. */
  readonly reasons: readonly string[];
  /** What an image is built from; left out for all else. */
  readonly source?: ImageSource;
};

export type PlannedTask = { readonly path: string; readonly id: string; readonly name: string; readonly steps: readonly Step[] };
export type PlannedEval = { readonly path: string; readonly id: string; readonly name: string; readonly tasks: readonly string[] };

/** What a run would do. Nothing of it is done yet. */
export type Plan = {
  readonly bundle: Bundle;
  /** In the order in which they are made. */
  readonly writes: readonly PlannedWrite[];
  readonly tasks: readonly PlannedTask[];
  readonly evals: readonly PlannedEval[];
  /** Paths of the tasks that nothing selected names. */
  readonly leftOut: readonly string[];
  readonly storeRefs: readonly StoreRef[];
  readonly warnings: readonly Warning[];
  /** The version that this run uses of something that it writes or references. Throws for anything else. */
  versionOf(kind: Kind, id: string): number;
  /** The file name of a `file` artifact that it writes or references, else null. */
  filenameOf(artifactId: string): string | null;
  /** What the other parts of this folder go on with. */
  readonly inner: PlanParts;
};

export type PlanParts = {
  readonly checked: Checked;
  readonly view: StoreView;
  readonly registry: Registry;
  readonly units: readonly UnitPlan[];
  /** Images that are written and built anew because that was asked for; left out: none. */
  readonly rebuild: ReadonlySet<string>;
};

export type PlanRequest = {
  readonly folder: string;
  readonly installed?: InstalledBundle;
  readonly selection: Selection;
  /** Null: nothing was ever stored. */
  readonly store: Store | null;
  /** What the Engine holds of base images now; left out where there is none to ask. */
  readonly engine?: BaseLookup;
  readonly registry?: Registry;
  /** `--rebuild`; left out: nothing. */
  readonly rebuild?: Rebuild;
  /** What images are built for; left out: whatever the Engine's own is. */
  readonly platform?: string | null;
};

/**
 * Reads a bundle and the store and says what a run would write, at which versions and why (4-bundle §7). Writes nothing.
 * Where there are problems `plan` is null. The store is read only when nothing is wrong without it.
 */
export async function planBundle(request: PlanRequest): Promise<{ readonly plan: Plan | null; readonly problems: readonly Problem[] }> {
  const { folder, installed, selection, store: given, registry = BUILT_IN, platform = null } = request;
  const refused = (problems: readonly Problem[]) => ({ plan: null, problems: sortedProblems(problems) });
  const store = given ?? emptyStore(folder);

  const { bundle, problems } = parseBundle(folder, installed);
  if (bundle === null || problems.length > 0) return refused(problems);
  const resolved = resolveBundle(bundle, registry);
  const { reached, leftOut, problems: unselected } = selectEntries(bundle, resolved.entries, selection);
  const checked = await checkEntries(bundle, reached, registry);
  const unresolved = reached.some((entry) => entry.problems.length > 0);
  if (unselected.length > 0 || unresolved) return refused([...unselected, ...checked.problems]);
  const { keys: rebuild, problems: notBuilt } = rebuildKeys(checked, request.rebuild ?? []);
  if (checked.problems.length + notBuilt.length > 0) return refused([...checked.problems, ...notBuilt]);
  const view = await readStoreRefs(
    bundle,
    reached.flatMap<ResolvedRef>(({ refs }) => refs),
    store,
  );
  const storeProblems = await checkAgainstStore(checked, view, store, registry);
  if (storeProblems.length > 0) return refused(storeProblems);

  const { idRoot, locked } = bundle;
  const units = await decideAll(checked, platform, { idRoot, view, store, engine: request.engine, locked, rebuild });
  const warnings = [...checked.warnings, ...bundleWarnings(bundle, resolved.entries)];
  return { plan: planOf({ checked: { ...checked, warnings }, view, registry, units, rebuild }, leftOut), problems: [] };
}

/** A plan's parts as its users see them. */
export function planOf(inner: PlanParts, leftOut: readonly string[]): Plan {
  const { checked, view, units } = inner;
  const tasks = checked.tasks.map(({ entry, steps }) => ({ path: entry.path, id: entry.id, name: entry.name, steps }));
  const evals = checked.entities
    .filter(({ resolved }) => resolved.entry.kind === "eval")
    .map(({ resolved: { entry, refs } }) => ({
      path: entry.path,
      id: entry.id,
      name: entry.name,
      tasks: refs.map(({ target }) => target.id),
    }));
  const versions = usedVersions(view, units);
  return {
    bundle: checked.bundle,
    writes: units.map(plannedWrite),
    tasks,
    evals,
    leftOut,
    storeRefs: view.refs,
    warnings: checked.warnings,
    versionOf(kind, id) {
      const version = versions.get(writeKey(kind, id));
      if (version === undefined) throw new Error(`the plan neither writes nor references ${writeKey(kind, id)}`);
      return version;
    },
    filenameOf: (artifactId) => filenameOf(inner, artifactId),
    inner,
  };
}

function plannedWrite({ unit, decision, source }: UnitPlan): PlannedWrite {
  const { kind, id, label } = unit;
  const type = unit.what === "image" ? "docker_image" : unit.entry.type;
  const { version, unchanged, reasons } = decision;
  return { kind, id, type, entry: label, version, unchanged, reasons, ...(source === null ? {} : { source }) };
}

/** Where a stored id is both pinned and named without a version, what has no version of its own gets the latest. */
function usedVersions(view: StoreView, units: readonly UnitPlan[]): ReadonlyMap<string, number> {
  const refs = view.refs.toSorted((a, b) => Number(b.pinned) - Number(a.pinned));
  return new Map([
    ...refs.map(({ kind, id, version }) => [writeKey(kind, id), version] as const),
    ...units.map(({ unit, decision }) => [unit.key, decision.version] as const),
  ]);
}

function filenameOf({ checked, view }: PlanParts, id: string): string | null {
  const entity = entityById(checked, "artifact", id);
  if (entity === undefined) {
    const ref = view.refs.find((candidate) => candidate.kind === "artifact" && candidate.id === id);
    const record = FileRecord.safeParse(ref && view.record("artifact", id, ref.pinned ? ref.version : null));
    return record.success ? record.data.filename : null;
  }
  const [only] = entity.sources?.files().files ?? [];
  return entity.resolved.type.type === "file" && only !== undefined ? posix.basename(only.path) : null;
}
