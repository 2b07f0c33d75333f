import type { DeploymentRecord } from "@agent-env/protocol";
import type { SandboxName } from "../providers/capabilities.ts";
import type { Labelled } from "../providers/sandbox/provider.ts";
import { isSandboxName, sandboxProviders } from "../providers/sandbox/registry.ts";
import { runIsAlive } from "../store/run-lock.ts";
import type { LeftUp } from "./deployment.ts";
import { stateLabel } from "./labels.ts";
import { deploymentOfId, listDeployments } from "./list.ts";
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

type GcContext = Pick<TeardownContext, "store" | "stateDir">;
type Verdict = Pick<Leftover, "cause" | "reason">;

/**
 * What is left over on this machine: expired, or its run has ended and the record's owner isn't null (5-run §14). Works where
 * a record is missing, by the labels alone. Things of another state folder count only once they have expired: whether
 * their run lives is known there. Builds leave nothing to look for: the Engine removes their containers when the connection ends.
 */
export async function findLeftovers(context: GcContext, now = new Date()): Promise<Leftover[]> {
  const { things, deployments } = await labelled(context, now);
  const seen = await usableSandboxes();
  const bare: Leftover[] = [];
  for (const record of await listDeployments(context.store, now)) {
    const { deployment_id: id, status, sandbox_type } = record;
    // Where its sandbox can't be looked into, nobody knows what is left of it.
    if (id === undefined || status === "stopped" || deployments.has(id) || !seen.has(sandbox_type)) continue;
    const verdict = await judgeRecord(record, context.stateDir);
    if (verdict !== null) bare.push({ ...verdict, kind: "record", name: id, deploymentId: id, sandbox: null });
  }
  return [...things, ...bare];
}

async function usableSandboxes(): Promise<ReadonlySet<string | null>> {
  const found = await Promise.all(
    sandboxProviders().map(async (one) => ((await one.unavailable()) === null ? [one.capabilities.name] : [])),
  );
  return new Set(found.flat());
}

/** The things among them, without the records of which nothing is left: reads no more records than there are deployments on this machine. */
export async function findLeftoverThings(context: GcContext, now = new Date()): Promise<Leftover[]> {
  return (await labelled(context, now)).things;
}

async function labelled(context: GcContext, now: Date): Promise<{ things: Leftover[]; deployments: ReadonlySet<string> }> {
  const judge = judgeOf(context, now);
  const things: Leftover[] = [];
  const deployments = new Set<string>();
  for (const provider of sandboxProviders()) {
    const sandbox = provider.capabilities.name;
    if (!isSandboxName(sandbox)) throw new Error(`${sandbox} is in no table`);
    for (const thing of await provider.labelled(context)) {
      const { kind, name, deploymentId } = thing;
      deployments.add(deploymentId);
      const verdict = await judge(thing);
      if (verdict !== null) things.push({ ...verdict, kind, name, deploymentId, sandbox });
    }
  }
  return { things, deployments };
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

/** Judges labelled things; each deployment's record is read once. */
function judgeOf({ store, stateDir }: GcContext, now: Date): (thing: Labelled) => Promise<Verdict | null> {
  const here = stateLabel(stateDir);
  const verdicts = new Map<string, Promise<Verdict | null>>();
  const judge = async ({ deploymentId, owner, expiresAt, state }: Labelled): Promise<Verdict | null> => {
    const record = state === here ? await deploymentOfId(store, deploymentId, now) : null;
    if (record !== null) return judgeRecord(record, stateDir);
    if (Date.parse(expiresAt) <= now.getTime()) return { cause: "expired", reason: `expired ${expiresAt}` };
    if (state !== here || (await runIsAlive(stateDir, owner))) return null;
    return { cause: "owner-gone", reason: `its run ${owner} has ended` };
  };
  return (thing) => {
    const verdict = verdicts.get(thing.deploymentId) ?? judge(thing);
    verdicts.set(thing.deploymentId, verdict);
    return verdict;
  };
}

/** `status` is as `listDeployments` shows it. */
async function judgeRecord({ status, owner, expires_at }: DeploymentRecord, stateDir: string): Promise<Verdict | null> {
  if (status === "stopped") return { cause: "stopped", reason: "its deployment was stopped" };
  if (status === "expired") return { cause: "expired", reason: `expired ${expires_at}` };
  if (owner === null || (await runIsAlive(stateDir, owner))) return null;
  return { cause: "owner-gone", reason: `its run ${owner} has ended` };
}
