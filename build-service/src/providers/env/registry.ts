import type { EnvProviderName } from "../capabilities.ts";
import { gatewayProvider } from "./gateway.ts";
import type { EnvProvider } from "./provider.ts";
import { serverProvider } from "./server.ts";

const PROVIDERS: Readonly<Record<EnvProviderName, EnvProvider>> = { gateway: gatewayProvider, server: serverProvider };

/** The environment provider of that name. */
export function envProvider(name: EnvProviderName): EnvProvider {
  return PROVIDERS[name];
}
