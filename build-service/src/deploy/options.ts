import type { EnvProviderCapabilities, SandboxCapabilities } from "../providers/capabilities.ts";
import type { DeployOptions } from "./deployment.ts";

export type RefusedOption = { readonly code: "deploy-option" | "deploy-env-provider" | "deploy-website"; readonly message: string };

const SHORTEST_TTL_S = 60;

/**
 * Options that are set and that a deploy could only drop: those that the sandbox or the env's provider doesn't take. Preflight
 * and deploy both ask this.
 */
export function refusedOptions(
  { cpu, memoryMb, gatewayMode, auth }: Pick<DeployOptions, "cpu" | "memoryMb" | "gatewayMode" | "auth">,
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
  if (auth === "token" && provider.refusesOptions.includes("auth")) {
    refused.push({
      code: "deploy-env-provider",
      message: `the env provider ${provider.name} has no gateway that could ask for tokens: leave out --auth and [gateway] auth`,
    });
  }
  return refused;
}

/** What a sandbox can't hold: an env of these sites for so long, reached so. Preflight and deploy both ask this. */
export function refusedPlace(
  { ttlSeconds, gateway, sites }: Pick<DeployOptions, "ttlSeconds" | "gateway"> & { readonly sites: readonly string[] },
  { name, longestTtlSeconds, gateways, websites }: SandboxCapabilities,
): RefusedOption[] {
  const refused: RefusedOption[] = [];
  if (ttlSeconds < SHORTEST_TTL_S || ttlSeconds > longestTtlSeconds) {
    const range = `${SHORTEST_TTL_S} to ${longestTtlSeconds} on ${name}`;
    refused.push({ code: "deploy-option", message: `ttl_seconds is ${ttlSeconds}; it may be ${range}` });
  }
  if (!gateways.includes(gateway)) {
    const next = `choose with --gateway ${gateways.join(" or ")}, or another --sandbox`;
    refused.push({ code: "deploy-option", message: `the sandbox ${name} has no ${gateway} gateway: ${next}` });
  }
  if (!websites && sites.length > 0) {
    refused.push({ code: "deploy-website", message: `the sandbox ${name} runs no websites, and the env has ${sites.join(", ")}` });
  }
  return refused;
}
