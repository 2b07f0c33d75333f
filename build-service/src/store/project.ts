import { type AnyRecord, cutLabels, type DeploymentRecord, labelKvKey } from "@agent-env/protocol";
import type { StoreSide } from "./store.ts";

/** What the edge is to see of an id: the latest revision with its record. A null value is not shown. */
export type Shown = { readonly revision: number; readonly value: string | null };

/** What KV holds of an env's latest version. */
export function envProjection(record: AnyRecord): Shown {
  return { revision: record.version, value: JSON.stringify({ revision: record.version, record }) };
}

/** What KV holds of a deployment: nothing once it has been stopped. */
export function deploymentProjection(record: DeploymentRecord): Shown {
  const { revision, status } = record;
  return { revision, value: status === "stopped" ? null : JSON.stringify({ revision, record }) };
}

/** What KV holds of a deployment besides, by key: whose a host label is that was cut. */
export function labelProjections(record: DeploymentRecord): ReadonlyMap<string, string> {
  const id = record.status === "stopped" ? undefined : record.deployment_id;
  return new Map(id === undefined ? [] : cutLabels(record).map((label) => [labelKvKey(label), id]));
}

/**
 * Shows the edge the latest revision. KV has no conditions, so of two writers the slower may cover the newer value with
 * its own: each looks afterwards whether what it has written is still the latest, and writes again if not. Whichever
 * writes last has then written the latest. What a killed writer leaves behind, its next run or `store sync` corrects.
 */
export async function projectLatest({ projections }: StoreSide, key: string, latest: () => Promise<Shown>): Promise<void> {
  let shown = await latest();
  for (;;) {
    if (shown.value === null) await projections.remove(key);
    else await projections.put(key, shown.value);
    const now = await latest();
    if (now.revision === shown.revision) return;
    shown = now;
  }
}
