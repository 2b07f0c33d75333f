import type { DeploymentRecord } from "@agent-env/protocol";
import type { Store } from "../store/store.ts";
import { deploymentSide, readRecord } from "./record.ts";

const PREFIX = "deployments/";

/** All deployments that were ever recorded, the newest first; one whose time is over shows as `expired`. */
export async function listDeployments(store: Store, now = new Date()): Promise<DeploymentRecord[]> {
  const ids = (await deploymentSide(store).objects.list(PREFIX)).map(({ key }) => key.slice(PREFIX.length).replace(/\.json$/, ""));
  const records = await Promise.all(ids.map((id) => readRecord(store, id)));
  return records
    .filter((record) => record !== null)
    .map((record) => withStatus(record, now))
    .sort((a, b) => startOf(b).localeCompare(startOf(a)) || (a.deployment_id ?? "").localeCompare(b.deployment_id ?? ""));
}

/** The deployment of that id or instance id, or null. */
export async function getDeployment(store: Store, idOrInstanceId: string, now = new Date()): Promise<DeploymentRecord | null> {
  const direct = await deploymentOfId(store, idOrInstanceId, now);
  if (direct !== null) return direct;
  return (await listDeployments(store, now)).find(({ instance_id }) => instance_id === idOrInstanceId) ?? null;
}

/** The deployment of that id, or null. */
export async function deploymentOfId(store: Store, id: string, now = new Date()): Promise<DeploymentRecord | null> {
  // Anything else is no id, and no part of a key.
  const record = /^[a-z0-9-]+$/.test(id) ? await readRecord(store, id) : null;
  return record === null ? null : withStatus(record, now);
}

/** Whether its time is over. One without an expiry never ends by itself. */
function hasExpired(record: DeploymentRecord, now: Date): boolean {
  return record.expires_at !== null && Date.parse(record.expires_at) <= now.getTime();
}

function withStatus(record: DeploymentRecord, now: Date): DeploymentRecord {
  return record.status === "up" && hasExpired(record, now) ? { ...record, status: "expired" } : record;
}

const startOf = (record: DeploymentRecord): string => record.created_at_utc ?? "";
