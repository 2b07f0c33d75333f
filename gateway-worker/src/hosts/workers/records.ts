import { DeploymentRecord, deploymentKvKey, deploymentObjectKey, Projection } from "@agent-env/protocol";
import type { Environment } from "./environment.ts";

/** How long a record, or that there is none, is taken as read. */
const FRESH_MS = 2_000;
const MAX_CACHED = 10_000;

type Cached = { readonly record: DeploymentRecord | null; readonly readMs: number };

const cache = new Map<string, Cached>();

/** The record of a deployment that is up: KV's projection, else R2, which is the truth. Null if there is none. */
export async function readRecord(env: Environment, deployment: string): Promise<DeploymentRecord | null> {
  const cached = cache.get(deployment);
  if (cached !== undefined && Date.now() - cached.readMs < FRESH_MS) return cached.record;
  const read = newer(cached?.record ?? null, (await projected(env, deployment)) ?? (await stored(env, deployment)));
  const record = read?.status === "up" ? read : null;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(deployment, { record, readMs: Date.now() });
  return record;
}

/** KV may be behind what was read before. */
function newer(known: DeploymentRecord | null, read: DeploymentRecord | null): DeploymentRecord | null {
  return known !== null && read !== null && read.revision < known.revision ? known : read;
}

async function projected(env: Environment, deployment: string): Promise<DeploymentRecord | null> {
  const value = await env.RECORDS.get(deploymentKvKey(deployment), "json");
  return value === null ? null : DeploymentRecord.parse(Projection.parse(value).record);
}

async function stored(env: Environment, deployment: string): Promise<DeploymentRecord | null> {
  const object = await env.STORE.get(deploymentObjectKey(deployment));
  return object === null ? null : DeploymentRecord.parse(await object.json());
}
