import { UserError } from "@agent-env/protocol";
import { findEnvProvider, type Registry, whyUnavailable } from "../../types/registry.ts";

/** The environment provider that an env names. Throws a UserError when none of that name is installed. */
export function envProviderName(envId: string, value: unknown, registry: Registry): string {
  if (typeof value === "string" && findEnvProvider(registry, value) !== undefined) return value;
  throw new UserError({
    what: `${envId}: env_provider_type ${JSON.stringify(value)} is no provider that is installed`,
    why: `installed are ${Object.keys(registry.envProviders).join(", ")}${whyUnavailable(registry, "env provider", String(value))}`,
    next: "set another one in its env.toml, and run its bundle: `agent-env run <bundle>`",
  });
}
