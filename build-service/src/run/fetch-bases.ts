import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deployedImages } from "../bundle/deployed-images.ts";
import { LOCK_FILE, lockFileText } from "../bundle/lock-file.ts";
import type { Plan } from "../bundle/plan.ts";
import { dockerfileFacts } from "../images/bases.ts";
import type { ImageBuilder } from "../images/builder.ts";
import type { Locked } from "../images/locked.ts";
import type { Emit } from "../report/events.ts";

export type FetchRequest = {
  readonly builder: Pick<ImageBuilder, "fetchBase">;
  /** Fix what was fetched in the bundle's lock file; else what that fixes already stays as it is. */
  readonly lock: boolean;
  readonly emit: Emit;
  readonly signal: AbortSignal;
};

type Base = { readonly reference: string; readonly entry: string; readonly platform: string | null };

/** The base images that `--pull` fetches: of all images that a selected deploy runs, but for those that are fixed. */
export function basesToFetch(plan: Plan, { lock }: Pick<FetchRequest, "lock">): Base[] {
  const deployed = deployedImages(plan);
  const { locked } = plan.bundle;
  const bases = new Map<string, Base>();
  for (const { unit, source } of plan.inner.units) {
    if (source === null || !deployed.has(unit.key)) continue;
    for (const reference of dockerfileFacts(source.dockerfileText).bases) {
      if (!bases.has(reference)) bases.set(reference, { reference, entry: unit.label, platform: source.platform });
    }
  }
  return [...bases.values()].filter(({ reference }) => lock || !locked.has(reference));
}

/**
 * Fetches the base images of a plan from their registries (4-bundle §10.4), one after the other. Gives the plan with what is
 * fixed from now on; with `lock` that is in the lock file too. Throws a UserError for one that can't be had.
 */
export async function fetchBases(plan: Plan, request: FetchRequest): Promise<Plan> {
  const { builder, lock, emit, signal } = request;
  const fetched = new Map<string, string>();
  for (const { reference, entry, platform } of basesToFetch(plan, request)) {
    const digest = await builder.fetchBase(reference, { entry, platform, emit, signal });
    if (digest !== null) fetched.set(reference, digest);
  }
  return lock ? withLock(plan, fetched, emit) : plan;
}

/** What was not fetched now keeps its digest: other tasks' images may be based on it. */
function withLock(plan: Plan, fetched: Locked, emit: Emit): Plan {
  const { locked: before, disk } = plan.bundle;
  const locked = new Map([...before, ...fetched]);
  writeFileSync(join(disk, LOCK_FILE), lockFileText(locked));
  emit({ kind: "log", level: "info", message: `${LOCK_FILE}: ${locked.size} base ${locked.size === 1 ? "image" : "images"} by digest` });
  return { ...plan, bundle: { ...plan.bundle, locked } };
}
