import type { ImageBuilder } from "../images/builder.ts";
import { type EnsureRequest, ensureBuilt } from "../images/ensure.ts";
import type { Emit } from "../report/events.ts";
import type { Store } from "../store/store.ts";
import { deployedImages } from "./deployed-images.ts";
import { type Plan, planOf } from "./plan.ts";
import { type DecideContext, decideAgain, type UnitPlan } from "./plan-writes.ts";
import { sideBySide } from "./side-by-side.ts";
import { lockOwner, lockWrites } from "./write-locks.ts";
import { finishUnit, type PreparedVersion, prepareUnit, type WriteContext } from "./write-unit.ts";

export type MakeRequest = {
  readonly store: Store;
  readonly emit: Emit;
  /** Null where no selected deploy needs a built image. */
  readonly builder: ImageBuilder | null;
  /** `[build] concurrency`. */
  readonly buildsAtOnce: number;
  readonly runId: string;
  readonly signal: AbortSignal;
};

/**
 * Makes what a plan says (4-bundle §9.4–9.6): takes a lock for every id, decides each write anew by what the store holds
 * by then, builds images that a selected deploy runs, writes records and ledger rows. Gives the plan with the versions
 * that came of it: they differ from the planned ones where another run wrote the same ids meanwhile. The first failure
 * ends it; what was written before stays, and the next run goes on from there.
 */
export async function materialize(plan: Plan, request: MakeRequest): Promise<Plan> {
  const claims = plan.inner.units.map(({ unit }) => unit);
  const locks = await lockWrites(claims, { ...request, owner: lockOwner(request.runId) });
  try {
    return await makeAll(plan, request);
  } finally {
    for (const lock of locks.reverse()) await lock.release();
  }
}

async function makeAll(plan: Plan, request: MakeRequest): Promise<Plan> {
  const { store, emit, builder, signal } = request;
  const { checked, view, registry, units, rebuild } = plan.inner;
  const { locked } = plan.bundle;
  const versions = new Map<string, number>();
  const deciding: DecideContext = {
    idRoot: plan.bundle.idRoot,
    view,
    store,
    engine: builder ?? undefined,
    locked,
    rebuild,
  };
  const deployed = builder === null ? new Set<string>() : deployedImages(plan);
  const writing = (unit: UnitPlan, building: AbortSignal): WriteContext => ({
    store,
    registry,
    view,
    versions,
    bundle: plan.bundle,
    signal: building,
    build:
      builder !== null && deployed.has(unit.unit.key)
        ? imageBuild(unit, { store, builder, emit, signal: building, locked, isFresh: rebuild.has(unit.unit.key) })
        : null,
  });

  // An image needs nothing that is written here, so all of them can be decided, and built, ahead of their turn.
  const images = new Map<string, UnitPlan>();
  for (const unit of units) if (unit.source !== null) images.set(unit.unit.key, await decideAgain(unit, versions, deciding));
  const builds = sideBySide([...images.values()], request.buildsAtOnce, signal, (unit, building) =>
    prepareUnit(unit, writing(unit, building)),
  );

  const made: UnitPlan[] = [];
  try {
    for (const planned of units) {
      signal.throwIfAborted();
      const unit = images.get(planned.unit.key) ?? (await decideAgain(planned, versions, deciding));
      const prepared: PreparedVersion | null = images.has(planned.unit.key)
        ? await builds.result(unit)
        : await prepareUnit(unit, writing(unit, signal));
      if (prepared !== null) await finishUnit(unit, prepared, writing(unit, signal));
      versions.set(unit.unit.key, unit.decision.version);
      made.push(unit);
      emitWrite(emit, unit);
    }
  } finally {
    await builds.end();
  }
  return planOf({ checked, view, registry, units: made, rebuild }, plan.leftOut);
}

type BuildContext = Omit<EnsureRequest, "record" | "entry">;

function imageBuild({ unit }: UnitPlan, context: BuildContext): WriteContext["build"] {
  return async (record) => {
    await ensureBuilt({ ...context, record, entry: unit.label });
  };
}

function emitWrite(emit: Emit, { unit, decision }: UnitPlan): void {
  const { version, reasons } = decision;
  const message = reasons.length === 0 ? `v${version}, unchanged` : `v${version} (${reasons.join("; ")})`;
  emit({ kind: "write", entry: unit.label, message, version, reasons });
}
