import type { DeploymentRecord } from "@agent-env/protocol";
import type { SandboxName } from "../providers/capabilities.ts";
import type { Labelled } from "../providers/sandbox/provider.ts";
import { isSandboxName, sandboxProviders } from "../providers/sandbox/registry.ts";
import { runIsAlive } from "../run/run-lock.ts";
import type { LeftUp } from "./deployment.ts";
import { stateLabel } from "./labels.ts";
import { listDeployments } from "./list.ts";
import { closeRecord } from "./record.ts";
import type { TeardownContext } from "./teardown.ts";

/** Something with our labels that nobody needs any more, and why. */
export type Leftover = {
  readonly kind: LeftUp["kind"] | "record";
  readonly name: string;
  readonly deploymentId: string;
  /** Null: a record of which nothing is left on this machine. */
  readonly sandbox: SandboxName | null;
  readonly cause: "expired" | "stopped" | "owner-gone";
  /** For a person: `expired 2026-03-01T09:00:00Z`. */
  readonly reason: string;
};

type Verdict = Pick<Leftover, "cause" | "reason">;

/**
 * What is left over on this machine: expired, or its run has ended and the record's owner isn't null (5-run §14). Works where
 * a record is missing, by the labels alone. Things of another state folder count only once they have expired: whether
 * their run lives is known there. Builds leave nothing to look for: the Engine removes their containers when the connection ends.
 */
export async function findLeftovers(context: Pick<TeardownContext, "store" | "stateDir">, now = new Date()): Promise<Leftover[]> {
  const { store, stateDir } = context;
  const records = new Map((await listDeployments(store, now)).map((record) => [record.deployment_id ?? "", record]));
  const judge = judgeOf(records, stateDir, now);
  const found: Leftover[] = [];
  const held = new Set<string>();
  for (const provider of sandboxProviders()) {
    const { name } = provider.capabilities;
    for (const thing of await provider.labelled(context)) {
      held.add(thing.deploymentId);
      const verdict = await judge(thing);
      if (verdict && isSandboxName(name))
        found.push({ ...verdict, kind: thing.kind, name: thing.name, deploymentId: thing.deploymentId, sandbox: name });
    }
  }
  for (const [id, record] of records) {
    const verdict = held.has(id) || record.status === "stopped" ? null : await judgeRecord(record, stateDir);
    if (verdict) found.push({ ...verdict, kind: "record", name: id, deploymentId: id, sandbox: null });
  }
  return found;
}

/** Removes them and closes their records; gives what is still there. */
export async function removeLeftovers(found: readonly Leftover[], context: TeardownContext): Promise<LeftUp[]> {
  const left: LeftUp[] = [];
  for (const provider of sandboxProviders()) {
    const ids = new Set(found.filter(({ sandbox }) => sandbox === provider.capabilities.name).map(({ deploymentId }) => deploymentId));
    left.push(...(await Promise.all([...ids].map((id) => provider.remove(id, context)))).flat());
  }
  for (const id of new Set(found.map(({ deploymentId }) => deploymentId))) await closeRecord(context.store, id);
  return left;
}

/** Judges labelled things; a run is asked for once. */
function judgeOf(
  records: ReadonlyMap<string, DeploymentRecord>,
  stateDir: string,
  now: Date,
): (thing: Labelled) => Promise<Verdict | null> {
  const here = stateLabel(stateDir);
  return async (thing) => {
    const isOurs = thing.state === here;
    const record = isOurs ? records.get(thing.deploymentId) : undefined;
    if (record) return judgeRecord(record, stateDir);
    if (Date.parse(thing.expiresAt) <= now.getTime()) return { cause: "expired", reason: `expired ${thing.expiresAt}` };
    if (!isOurs || (await runIsAlive(stateDir, thing.owner))) return null;
    return { cause: "owner-gone", reason: `its run ${thing.owner} has ended` };
  };
}

/** `status` is as `listDeployments` shows it. */
async function judgeRecord({ status, owner, expires_at }: DeploymentRecord, stateDir: string): Promise<Verdict | null> {
  if (status === "stopped") return { cause: "stopped", reason: "its deployment was stopped" };
  if (status === "expired") return { cause: "expired", reason: `expired ${expires_at}` };
  if (owner === null || (await runIsAlive(stateDir, owner))) return null;
  return { cause: "owner-gone", reason: `its run ${owner} has ended` };
}
