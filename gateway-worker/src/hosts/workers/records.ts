import {
  brokenRecord,
  DeploymentRecord,
  deploymentKvKey,
  deploymentObjectKey,
  endedDeployment,
  type GatewayError,
  jsonOf,
  labelKvKey,
  Projection,
  recordsAway,
  unknownDeployment,
} from "@agent-env/protocol";
import { Recent } from "./recent.ts";

/** How long a record, or that there is none, is taken as read. */
const FRESH_MS = 2_000;
/** How long a record that was read goes on being served by while neither KV nor R2 answers. */
const STALE_MS = 600_000;
const MAX_RECORDS = 2_000;
/** Names are free to choose for clients: theirs never push records out. */
const MAX_ABSENT = 5_000;

/**
 * A deployment's record, or why it isn't served; its `Host` rules hold all the same where there is one. `isOver`: there is no
 * such deployment, or not any more.
 */
export type RecordRead =
  | { readonly record: DeploymentRecord; readonly problem: null }
  | { readonly record: DeploymentRecord | null; readonly problem: GatewayError; readonly isOver: boolean };

/** What lies under one key. `field` is where a value is no record. */
type Found = { readonly is: "record"; readonly record: DeploymentRecord } | { readonly is: "broken"; readonly field: string };
/** 50 characters, a dash, and a hash (7-sites §1). */
const CUT_LABEL_LENGTH = 59;
/** What of KV and R2 is used. */
type Bindings = {
  readonly RECORDS: { get(key: string): Promise<string | null> };
  readonly STORE: { get(key: string): Promise<{ text(): Promise<string> } | null> };
};

const records = new Recent<{ readonly found: Found; readonly readMs: number }>(MAX_RECORDS);
const absent = new Recent<number>(MAX_ABSENT);
/** Cut label → deployment: a label's hash is of the whole id, so that it never becomes another's. */
const labels = new Recent<string>(MAX_RECORDS);

/**
 * The record of a deployment: KV's projection, else R2, which is the truth. KV may be behind: what is older than the cached
 * record, or than the revision `atLeast`, is looked up in R2. `nowMs` decides whether it has expired.
 */
export async function readRecord(
  env: Bindings,
  deployment: string,
  options: { atLeast?: number; nowMs?: number } = {},
): Promise<RecordRead> {
  const { atLeast = 0, nowMs = Date.now() } = options;
  const cached = records.get(deployment);
  const isFresh = cached !== undefined && nowMs - cached.readMs < FRESH_MS && revisionOf(cached.found) >= atLeast;
  if (isFresh) return judged(deployment, cached.found, nowMs);
  if (nowMs - (absent.get(deployment) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return unknown(deployment);
  try {
    const found = await newest(env, deployment, cached?.found ?? null, atLeast);
    if (found === null) {
      records.delete(deployment);
      absent.set(deployment, nowMs);
      return unknown(deployment);
    }
    absent.delete(deployment);
    records.set(deployment, { found, readMs: nowMs });
    return judged(deployment, found, nowMs);
  } catch (error) {
    console.error(error);
    if (cached !== undefined && nowMs - cached.readMs < STALE_MS) return judged(deployment, cached.found, nowMs);
    return { record: null, problem: recordsAway(deployment), isOver: false };
  }
}

/**
 * The deployment whose id a cut host label holds in part only, as KV shows it; null for any other label. Whether the label is that
 * deployment's is for its record to say.
 */
export async function deploymentOfLabel(env: Pick<Bindings, "RECORDS">, label: string, nowMs: number = Date.now()): Promise<string | null> {
  if (label.length !== CUT_LABEL_LENGTH || !/-[0-9a-f]{8}$/.test(label)) return null;
  const key = labelKvKey(label);
  const known = labels.get(label);
  if (known !== undefined) return known;
  if (nowMs - (absent.get(key) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return null;
  const deployment = await env.RECORDS.get(key).catch((error: unknown) => {
    console.error(error);
    return null;
  });
  if (deployment === null) absent.set(key, nowMs);
  else labels.set(label, deployment);
  return deployment;
}

/** A record that has ended is told apart from one that never was, so that whoever asks knows that it won't come back. */
function judged(deployment: string, found: Found, nowMs: number): RecordRead {
  if (found.is === "broken") return { record: null, problem: brokenRecord(deployment, found.field), isOver: false };
  const { record } = found;
  const { status } = record;
  const how = status === "stopped" ? "was stopped" : howExpired(record, nowMs);
  if (how !== null) return { record, problem: endedDeployment(deployment, how), isOver: true };
  return { record, problem: null };
}

function howExpired({ status, expires_at }: DeploymentRecord, nowMs: number): string | null {
  if (expires_at !== null && Date.parse(expires_at) <= nowMs) return `expired at ${expires_at}`;
  return status === "expired" ? "has expired" : null;
}

function unknown(deployment: string): RecordRead {
  return { record: null, problem: unknownDeployment(deployment), isOver: true };
}

async function newest(env: Bindings, deployment: string, known: Found | null, atLeast: number): Promise<Found | null> {
  const wanted = Math.max(atLeast, revisionOf(known));
  const projected = await env.RECORDS.get(deploymentKvKey(deployment));
  const fromKv = projected === null ? null : foundIn(projected, (value) => Projection.safeParse(value).data?.record);
  if (fromKv?.is === "record" && fromKv.record.revision >= wanted) return fromKv;
  const stored = await env.STORE.get(deploymentObjectKey(deployment));
  const fromR2 = stored === null ? null : foundIn(await stored.text(), (value) => value);
  if (fromR2 !== null) return fromR2;
  return fromKv?.is === "record" && known?.is === "record" ? known : fromKv;
}

function foundIn(text: string, recordOf: (value: unknown) => unknown): Found {
  const parsed = DeploymentRecord.safeParse(recordOf(jsonOf(text)));
  if (!parsed.success) return { is: "broken", field: parsed.error.issues[0]?.path.join(".") ?? "" };
  const { expires_at } = parsed.data;
  if (expires_at !== null && Number.isNaN(Date.parse(expires_at))) return { is: "broken", field: "expires_at" };
  return { is: "record", record: parsed.data };
}

function revisionOf(found: Found | null): number {
  return found?.is === "record" ? found.record.revision : 0;
}
