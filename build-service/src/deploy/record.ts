import { cutLabels, DeploymentRecord, deploymentKvKey, deploymentObjectKey, labelKvKey } from "@agent-env/protocol";
import { parseStored, readJson } from "../store/json.ts";
import { deploymentProjection, labelProjections, projectLatest } from "../store/project.ts";
import type { Store, StoreSide } from "../store/store.ts";

/** Where deployments lie that a gateway of this machine serves: one of the deployment's own, or `gateway dev` (5-run §6). */
export const deploymentSide = (store: Store): StoreSide => store.local;

/** How often a change that lost the race against another one is made again on what is there by then. */
const RACES = 20;

/** Writes a new deployment's record, and shows it to the edge. */
export async function createRecord(store: Store, record: DeploymentRecord): Promise<DeploymentRecord> {
  const id = idOf(record);
  if (!(await deploymentSide(store).objects.create(deploymentObjectKey(id), textOf(record))))
    throw new Error(`${id}: a deployment has that id already`);
  await project(store, record);
  return record;
}

/**
 * Changes a deployment's record by compare-and-swap, with the next revision; null when there is none. `change` gives null
 * to leave it as it is.
 */
export async function updateRecord(
  store: Store,
  id: string,
  change: (record: DeploymentRecord) => Partial<DeploymentRecord> | null,
): Promise<DeploymentRecord | null> {
  const key = deploymentObjectKey(id);
  for (let race = 0; race < RACES; race++) {
    const found = await deploymentSide(store).objects.get(key);
    if (found === null) return null;
    const record = parseStored(key, found.bytes, DeploymentRecord);
    const changes = change(record);
    if (changes === null) return record;
    const changed: DeploymentRecord = { ...record, ...changes, revision: record.revision + 1 };
    if (!(await deploymentSide(store).objects.replace(key, textOf(changed), found.etag))) continue;
    await project(store, changed);
    return changed;
  }
  throw new Error(`${key}: ${RACES} changes in a row lost the race against others`);
}

/** The deployment's end: its record says `stopped`, and the edge no longer knows it. Safe to repeat. */
export function closeRecord(store: Store, id: string): Promise<DeploymentRecord | null> {
  return updateRecord(store, id, ({ status, owner }) =>
    status === "stopped" && owner === null ? null : { status: "stopped", owner: null },
  );
}

/** Ends a run's ownership, at the good end of `env deploy`: from then on only the expiry counts. */
export function releaseDeployment(store: Store, id: string): Promise<DeploymentRecord | null> {
  return updateRecord(store, id, ({ owner }) => (owner === null ? null : { owner: null }));
}

export function readRecord(store: Store, id: string): Promise<DeploymentRecord | null> {
  return readJson(deploymentSide(store), deploymentObjectKey(id), DeploymentRecord);
}

/** Shows the edge the record as it is by now: newer than the one just written where another writer was faster. */
async function project(store: Store, written: DeploymentRecord): Promise<void> {
  const id = idOf(written);
  const { projections } = deploymentSide(store);
  const labels = labelProjections(written);
  if (labels.size > 0) await projections.putAll(labels);
  await projectLatest(deploymentSide(store), deploymentKvKey(id), async () =>
    deploymentProjection((await readRecord(store, id)) ?? written),
  );
  const over = written.status === "stopped" ? cutLabels(written).map(labelKvKey) : [];
  if (over.length > 0) await projections.removeAll(over);
}

function idOf(record: DeploymentRecord): string {
  if (record.deployment_id === undefined) throw new Error("a stored deployment has an id");
  return record.deployment_id;
}

const textOf = (record: DeploymentRecord): string => `${JSON.stringify(record)}\n`;
