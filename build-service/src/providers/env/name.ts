import { UserError } from "@agent-env/protocol";
import { ENV_PROVIDERS, type EnvProviderName } from "../capabilities.ts";

/** The environment provider that an env names. Throws a UserError when none of that name is installed. */
export function envProviderName(envId: string, value: unknown): EnvProviderName {
  if (typeof value === "string" && isProviderName(value)) return value;
  throw new UserError({
    what: `${envId}: env_provider_type ${JSON.stringify(value)} is no provider that is installed`,
    why: `installed are ${Object.keys(ENV_PROVIDERS).join(", ")}`,
    next: "set another one in its env.toml, and run its bundle: `agent-env run <bundle>`",
  });
}

function isProviderName(value: string): value is EnvProviderName {
  return Object.hasOwn(ENV_PROVIDERS, value);
}
