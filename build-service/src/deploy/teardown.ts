import { type DeploymentRecord, UserError } from "@agent-env/protocol";
import type { SandboxProvider } from "../providers/sandbox/provider.ts";
import type { Sandboxes } from "../providers/sandbox/sandboxes.ts";
import type { DeployContext, LeftUp } from "./deployment.ts";
import { forgetKey } from "./keys.ts";
import { closeRecord, readRecord } from "./record.ts";

export type TeardownContext = Pick<DeployContext, "store" | "stateDir" | "emit" | "plugins">;

/**
 * Removes all of a deployment, found by its labels, then closes its record; `leftUp` is what could not be removed. Safe on one
 * that is gone. `sandbox` says where it runs when there may be no record yet; else the record does, or every provider is looked through.
 * Throws a UserError, and leaves the record as it is, when where it runs isn't known here.
 */
export async function stopDeployment(
  id: string,
  context: TeardownContext,
  sandbox?: string,
): Promise<{ record: DeploymentRecord | null; leftUp: LeftUp[] }> {
  const { sandboxes } = context.plugins;
  const recorded = await readRecord(context.store, id);
  const name = sandbox ?? recorded?.sandbox_type ?? null;
  // Whatever is known of it then, it has been taken down.
  if (name !== null && recorded?.status === "stopped" && sandboxes.find(name) === null) return { record: recorded, leftUp: [] };
  const providers = name === null ? await holders(id, context) : [providerOf(id, name, sandboxes)];
  const leftUp = (await Promise.all(providers.map((provider) => provider.remove(id, context)))).flat();
  const record = await closeRecord(context.store, id);
  if (leftUp.length === 0) await forgetKey(context.stateDir, id);
  return { record, leftUp };
}

function providerOf(id: string, name: string, sandboxes: Sandboxes): SandboxProvider {
  const sandbox = sandboxes.find(name);
  if (sandbox !== null) return sandbox.provider;
  throw new UserError({
    what: `${id}: it runs on the sandbox ${JSON.stringify(name)}, which isn't known here: nothing was removed, and its record stays`,
    why: `known are ${sandboxes.unknown(name).known}`,
    next: `bring back what has it (agent-env plugin list; [sandbox.providers.${name}]), then agent-env env stop ${id}`,
  });
}

/** The providers that have anything of a deployment, by its labels. */
export async function holders(id: string, context: Pick<TeardownContext, "stateDir" | "plugins">): Promise<SandboxProvider[]> {
  const found = await Promise.all(
    context.plugins.sandboxes.all().map(async ({ provider }) => {
      const things = await provider.labelled(context);
      return things.some(({ deploymentId }) => deploymentId === id) ? [provider] : [];
    }),
  );
  return found.flat();
}
