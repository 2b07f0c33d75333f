import type { EnvProviderCapabilities, SandboxCapabilities } from "../providers/capabilities.ts";
import type { DeployOptions } from "./deployment.ts";

export type RefusedOption = { readonly code: "deploy-option" | "deploy-env-provider"; readonly message: string };

/**
 * Options that are set and that a deploy could only drop: those that the sandbox or the env's provider doesn't take. Preflight
 * and deploy both ask this.
 */
export function refusedOptions(
  { cpu, memoryMb, gatewayMode }: Pick<DeployOptions, "cpu" | "memoryMb" | "gatewayMode">,
  sandbox: SandboxCapabilities,
  provider: EnvProviderCapabilities,
): RefusedOption[] {
  const limits = [...(cpu === null ? [] : ["cpu"]), ...(memoryMb === null ? [] : ["memory_mb"])];
  const refused: RefusedOption[] = [];
  if (!sandbox.limits) {
    for (const option of limits) {
      refused.push({ code: "deploy-option", message: `the sandbox ${sandbox.name} limits nothing, and ${option} is set: leave it out` });
    }
  }
  if (gatewayMode !== "performance" && provider.refusesOptions.includes("gateway_mode")) {
    refused.push({
      code: "deploy-env-provider",
      message: `the env provider ${provider.name} doesn't take gateway_mode: leave it out`,
    });
  }
  return refused;
}
