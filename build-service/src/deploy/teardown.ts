import type { DeploymentRecord } from "@agent-env/protocol";
import type { SandboxName } from "../providers/capabilities.ts";
import type { SandboxProvider } from "../providers/sandbox/provider.ts";
import { isSandboxName, sandboxProvider, sandboxProviders } from "../providers/sandbox/registry.ts";
import type { DeployContext, LeftUp } from "./deployment.ts";
import { closeRecord, readRecord } from "./record.ts";

export type TeardownContext = Pick<DeployContext, "store" | "stateDir" | "emit">;

/**
 * Removes all of a deployment, found by its labels, then closes its record; `leftUp` is what could not be removed. Safe on one
 * that is gone. `sandbox` says where it runs when there may be no record yet; else the record does, or every provider is looked through.
 */
export async function stopDeployment(
  id: string,
  context: TeardownContext,
  sandbox?: SandboxName,
): Promise<{ record: DeploymentRecord | null; leftUp: LeftUp[] }> {
  const recorded = (await readRecord(context.store, id))?.sandbox_type ?? null;
  const name = sandbox ?? recorded;
  const providers = name !== null && isSandboxName(name) ? [sandboxProvider(name)] : await holders(id, context);
  const leftUp = (await Promise.all(providers.map((provider) => provider.remove(id, context)))).flat();
  return { record: await closeRecord(context.store, id), leftUp };
}

async function holders(id: string, context: TeardownContext): Promise<SandboxProvider[]> {
  const found = await Promise.all(
    sandboxProviders().map(async (provider) => {
      const things = await provider.labelled(context);
      return things.some(({ deploymentId }) => deploymentId === id) ? [provider] : [];
    }),
  );
  return found.flat();
}
