import type { DeploymentRecord } from "@agent-env/protocol";
import type { Store } from "../store/store.ts";
import { readRecord } from "./record.ts";

const PREFIX = "deployments/";

/** All deployments that were ever recorded, the newest first; one whose time is over shows as `expired`. */
export async function listDeployments(store: Store, now = new Date()): Promise<DeploymentRecord[]> {
  const ids = (await store.objects.list(PREFIX)).map(({ key }) => key.slice(PREFIX.length).replace(/\.json$/, ""));
  const records = await Promise.all(ids.map((id) => readRecord(store, id)));
  return records
    .filter((record) => record !== null)
    .map((record) => withStatus(record, now))
    .sort((a, b) => startOf(b).localeCompare(startOf(a)) || (a.deployment_id ?? "").localeCompare(b.deployment_id ?? ""));
}

/** The deployment of that id or instance id, or null. */
export async function getDeployment(store: Store, idOrInstanceId: string, now = new Date()): Promise<DeploymentRecord | null> {
  // An instance id holds the env's id, which is no part of a key.
  const direct = /^[a-z0-9-]+$/.test(idOrInstanceId) ? await readRecord(store, idOrInstanceId) : null;
  if (direct !== null) return withStatus(direct, now);
  return (await listDeployments(store, now)).find(({ instance_id }) => instance_id === idOrInstanceId) ?? null;
}

/** Whether its time is over. One without an expiry never ends by itself. */
export function hasExpired(record: DeploymentRecord, now: Date): boolean {
  return record.expires_at !== null && Date.parse(record.expires_at) <= now.getTime();
}

function withStatus(record: DeploymentRecord, now: Date): DeploymentRecord {
  return record.status === "up" && hasExpired(record, now) ? { ...record, status: "expired" } : record;
}

const startOf = (record: DeploymentRecord): string => record.created_at_utc ?? "";
