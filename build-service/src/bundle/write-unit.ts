import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { AnyRecord, DockerImageRecord, UserError } from "@agent-env/protocol";
import { fileDigests } from "../images/context.ts";
import type { Store } from "../store/store.ts";
import { createVersion, finishVersion, readVersion } from "../store/versions.ts";
import { configDisk } from "./bundle.ts";
import { canonicalJson } from "./canonical.ts";
import { readConfigText } from "./config-file.ts";
import { entrySources } from "./entry-sources.ts";
import { dropAttempts, inputsDigest, type LedgerRow, SCHEME, writeAttempt, writeDone } from "./ledger.ts";
import type { UnitPlan } from "./plan-writes.ts";
import { type BodyContext, recordBody } from "./record-body.ts";

export type WriteContext = Omit<BodyContext, "attempt"> & {
  readonly bundle: { readonly idRoot: string; readonly disk: string };
  /** Builds an image on an Engine; null where no deploy of this run needs it built. */
  readonly build: ((record: DockerImageRecord) => Promise<void>) | null;
};

/** A version whose record is ready to be written, or is in the store already. */
export type PreparedVersion = { readonly record: AnyRecord; readonly attempt: string; readonly isStored: boolean };

/**
 * The first half of one write (4-bundle §9.4.1–3): its attempt row, its blobs, and its image. Null where nothing has to
 * be written. What an unchanged image lacks on the Engine is built.
 */
export async function prepareUnit(plan: UnitPlan, context: WriteContext): Promise<PreparedVersion | null> {
  const { unit, decision } = plan;
  const { store, build } = context;
  const isImage = unit.what === "image";
  if (decision.unchanged) {
    const record = isImage || decision.adopts !== null ? await stored(store, plan) : null;
    if (isImage) await build?.(DockerImageRecord.parse(record));
    if (decision.adopts !== null && record !== null) return { record, attempt: decision.adopts.attempt, isStored: true };
    await dropAttempts(store, unit.kind, unit.id);
    return null;
  }
  const attempt = randomBytes(8).toString("hex");
  await writeAttempt(store, unit.kind, { ...rowOf(plan, context, attempt), status: "pending", digest: digestOf(plan) });
  const body = await recordBody(plan, { ...context, attempt });
  const record = AnyRecord.parse({ id: unit.id, type: plan.inputs.type, version: decision.version, ...body });
  if (isImage) await build?.(DockerImageRecord.parse(record));
  return { record, attempt, isStored: false };
}

/** The second half (4-bundle §9.4.4–8): the record, what shows it, and the ledger's row, which says what it was made from. */
export async function finishUnit(plan: UnitPlan, prepared: PreparedVersion, context: WriteContext): Promise<void> {
  const { unit, decision } = plan;
  const { store } = context;
  const { record, attempt, isStored } = prepared;
  const digest = digestOf(plan);
  if (!isStored && !(await createVersion(store, unit.kind, record, { attempt, digest }))) {
    throw new UserError({
      what: `${unit.label}: v${decision.version} of ${unit.id} was written by something else meanwhile`,
      why: "this run holds the id's lock, so what wrote it is no run of a bundle",
      next: "run the bundle again, which plans anew",
    });
  }
  await finishVersion(store, unit.kind, record);
  const row = rowOf(plan, context, attempt);
  const vouched = isAsPlanned(plan, context.bundle.disk) ? { digest } : {};
  await writeDone(store, unit.kind, { ...row, ...vouched, status: "done", version: decision.version });
}

async function stored(store: Store, { unit, decision }: UnitPlan): Promise<AnyRecord> {
  const record = await readVersion(store, unit.kind, unit.id, decision.version);
  if (record !== null) return record;
  throw new UserError({
    what: `${unit.label}: v${decision.version} of ${unit.id} is gone from the store`,
    why: "it was there when it was decided about, so something else has removed it meanwhile",
    next: "run the bundle again, which plans anew",
  });
}

function digestOf({ unit, inputs }: UnitPlan): string {
  return inputsDigest({ store: unit.kind, id: unit.id, inputs });
}

function rowOf({ unit, inputs }: UnitPlan, { bundle }: WriteContext, attempt: string): Omit<LedgerRow, "status"> {
  return { store: unit.kind, id: unit.id, bundle: bundle.idRoot, scheme: SCHEME, attempt, at: new Date().toISOString(), inputs };
}

/** Whether the files and the config that were planned are still what the disk holds, now that the version is written. */
function isAsPlanned({ unit, inputs }: UnitPlan, bundleDisk: string): boolean {
  const { entry } = unit;
  const disk = configDisk(entry);
  const config = disk === null ? null : readConfigText(disk);
  if (config !== null && (!("text" in config) || config.text !== entry.configText)) return false;
  if (entry.folder === "tasks" || entry.folder === "evals" || Object.keys(inputs.files).length === 0) return true;
  // A walk starts from a folder that is there.
  if (!existsSync(entry.disk)) return false;
  const sources = entrySources(bundleDisk, entry);
  const { files, problems } = unit.what === "image" ? sources.context(unit.image) : sources.files();
  return problems.length === 0 && canonicalJson(fileDigests(files, entry.path)) === canonicalJson(inputs.files);
}
