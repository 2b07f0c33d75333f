import type { Sandbox } from "../providers/sandbox/sandboxes.ts";
import { deployEnv, LeftBehind } from "./deploy.ts";
import type { DeployContext, Deployment, DeployOptions } from "./deployment.ts";

/**
 * Deploys on the first sandbox of a chain on which it works (5-run §2.3). What a failed link started has been removed
 * before the next one is tried; where that can't be, none is. Why one failed is said, and the last one's failure is the deploy's.
 */
export async function deployOnChain(
  chain: readonly [Sandbox, ...Sandbox[]],
  options: Omit<DeployOptions, "sandbox">,
  context: DeployContext,
): Promise<Deployment> {
  const [{ name: sandbox }, next, ...others] = chain;
  if (next === undefined) return deployEnv({ ...options, sandbox }, context);
  try {
    return await deployEnv({ ...options, sandbox }, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof LeftBehind) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `it can't be deployed on ${sandbox}, so ${next.name} is tried: ${reason}`;
    context.emit({ kind: "log", entry: options.env.id, level: "warning", message });
    return deployOnChain([next, ...others], options, context);
  }
}
