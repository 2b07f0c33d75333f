import type { DeploymentRecord } from "@agent-env/protocol";
import type { Labelled, SandboxProvider } from "../providers/sandbox/provider.ts";
import type { Sandbox } from "../providers/sandbox/sandboxes.ts";
import { runIsAlive } from "../store/run-lock.ts";
import type { LeftUp } from "./deployment.ts";
import { drawnKeys, forgetKey } from "./keys.ts";
import { START_ALLOWANCE_S, stateLabel } from "./labels.ts";
import { deploymentOfId, listDeployments } from "./list.ts";
import { closeRecord } from "./record.ts";
import type { TeardownContext } from "./teardown.ts";

/** Something with our labels that nobody needs any more, and why. */
export type Leftover = {
  readonly kind: LeftUp["kind"] | "record" | "key";
  readonly name: string;
  readonly deploymentId: string;
  /** Null: a record or a private key, which lies in the store or the state folder. */
  readonly sandbox: string | null;
  readonly cause: "expired" | "stopped" | "owner-gone";
  /** For a person: `expired 2026-03-01T09:00:00Z`. */
  readonly reason: string;
};

/** A deployment that nobody needs any more, on a sandbox that can't be looked into: what is left of it is for a person to end. */
export type OutOfReach = Pick<Leftover, "deploymentId" | "cause" | "reason"> & { readonly sandbox: string; readonly why: string };

type GcContext = Pick<TeardownContext, "store" | "stateDir" | "plugins">;
type Verdict = Pick<Leftover, "cause" | "reason">;

/**
 * What is left over on this machine: expired, or its run has ended and the record's owner isn't null (5-run §14). Works where
 * a record is missing, by the labels alone. Things of another state folder count only once they have expired: whether
 * their run lives is known there. Builds leave nothing to look for: the Engine removes their containers when the connection ends.
 */
export async function findLeftovers(context: GcContext, now = new Date()): Promise<readonly Leftover[]> {
  return (await surveyed(context, now)).found;
}

export type Survey = {
  readonly found: readonly Leftover[];
  /** Private keys that nothing is signed with any more. */
  readonly keys: readonly Leftover[];
  readonly outOfReach: readonly OutOfReach[];
};

/** The same, the private keys of what has ended, and what is left over where it can't be looked for. */
export async function survey(context: GcContext, now = new Date()): Promise<Survey> {
  const { found, deployments, outOfReach } = await surveyed(context, now);
  return { found, keys: await leftoverKeys(context, { found, deployments, now }), outOfReach };
}

type Surveyed = Omit<Survey, "keys"> & { readonly deployments: ReadonlySet<string> };

/** All but the keys, whose records a run that only wants to say what is left has no need to read. */
async function surveyed(context: GcContext, now: Date): Promise<Surveyed> {
  const { things, deployments } = await labelled(context, context.plugins.sandboxes.all(), now);
  const whyNot = await unseen(context);
  const bare: Leftover[] = [];
  const outOfReach: OutOfReach[] = [];
  for (const record of await listDeployments(context.store, now)) {
    const { deployment_id: id, status, sandbox_type: sandbox } = record;
    if (id === undefined || status === "stopped" || deployments.has(id)) continue;
    const verdict = await judgeRecord(record, context.stateDir);
    if (verdict === null) continue;
    const why = sandbox === null ? null : whyNot(sandbox);
    // Where its sandbox can't be looked into, nobody knows what is left of it, and its record stays.
    if (sandbox !== null && why !== null) outOfReach.push({ ...verdict, deploymentId: id, sandbox, why });
    else bare.push({ ...verdict, kind: "record", name: id, deploymentId: id, sandbox: null });
  }
  return { found: [...things, ...bare], deployments, outOfReach };
}

/** A deployment's key is needed while it is up, and before that while it starts. */
async function leftoverKeys(
  { store, stateDir }: GcContext,
  { found, deployments, now }: { found: readonly Leftover[]; deployments: ReadonlySet<string>; now: Date },
): Promise<Leftover[]> {
  const verdictOf = async (id: string, drawnAt: Date): Promise<Verdict | null> => {
    const goesWith = found.find(({ deploymentId }) => deploymentId === id);
    if (goesWith !== undefined) return { cause: goesWith.cause, reason: goesWith.reason };
    const record = await deploymentOfId(store, id, now);
    if (record !== null) return record.status === "stopped" ? judgeRecord(record, stateDir) : null;
    const mayStart = now.getTime() - drawnAt.getTime() < START_ALLOWANCE_S * 1000;
    return deployments.has(id) || mayStart ? null : { cause: "stopped", reason: "it has no deployment" };
  };
  const judged = (await drawnKeys(stateDir)).map(async ({ deploymentId: id, drawnAt }): Promise<Leftover[]> => {
    const verdict = await verdictOf(id, drawnAt);
    return verdict === null ? [] : [{ ...verdict, kind: "key", name: id, deploymentId: id, sandbox: null }];
  });
  return (await Promise.all(judged)).flat();
}

/** Says why the sandbox of that name can't be looked into; null for one that can. */
async function unseen({ plugins: { sandboxes } }: GcContext): Promise<(name: string) => string | null> {
  const missing = sandboxes.all().map(async ({ name, provider }) => [name, (await provider.unavailable())?.why ?? null] as const);
  const reasons = new Map<string, string | null>(await Promise.all(missing));
  for (const { name, error } of sandboxes.broken()) reasons.set(name, `${error.message}: ${error.why}`);
  return (name) => {
    const reason = reasons.get(name);
    return reason === undefined ? `it isn't known here; known are ${sandboxes.unknown(name).known}` : reason;
  };
}

/** The things among them on these sandboxes, without the records of which nothing is left: reads no more records than there are deployments there. */
export async function findLeftoverThings(context: GcContext, on: readonly Sandbox[], now = new Date()): Promise<Leftover[]> {
  return (await labelled(context, on, now)).things;
}

async function labelled(
  context: GcContext,
  sandboxes: readonly Sandbox[],
  now: Date,
): Promise<{ things: Leftover[]; deployments: ReadonlySet<string> }> {
  const judge = judgeOf(context, now);
  // A provider and its presets may see the same things.
  const things = new Map<string, Leftover>();
  const deployments = new Set<string>();
  for (const { name: sandbox, provider } of sandboxes) {
    for (const thing of await provider.labelled(context)) {
      const { kind, name, deploymentId } = thing;
      deployments.add(deploymentId);
      const verdict = await judge(thing);
      const key = `${kind} ${name} ${deploymentId}`;
      if (verdict !== null && !things.has(key)) things.set(key, { ...verdict, kind, name, deploymentId, sandbox });
    }
  }
  return { things: [...things.values()], deployments };
}

/** Removes them, closes their records and forgets their keys; gives what is still there. */
export async function removeLeftovers(found: readonly Leftover[], context: TeardownContext): Promise<LeftUp[]> {
  const left: LeftUp[] = [];
  const stillUp = new Set<string>();
  const removed = async (provider: SandboxProvider, id: string): Promise<LeftUp[]> => {
    const leftUp = await provider.remove(id, context);
    if (leftUp.length > 0) stillUp.add(id);
    return leftUp;
  };
  for (const { name, provider } of context.plugins.sandboxes.all()) {
    const ids = new Set(found.filter(({ sandbox }) => sandbox === name).map(({ deploymentId }) => deploymentId));
    left.push(...(await Promise.all([...ids].map((id) => removed(provider, id)))).flat());
  }
  const ended = new Set(found.map(({ deploymentId }) => deploymentId));
  for (const id of ended) await closeRecord(context.store, id);
  for (const { deploymentId: id } of await drawnKeys(context.stateDir)) {
    if (ended.has(id) && !stillUp.has(id)) await forgetKey(context.stateDir, id);
  }
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
