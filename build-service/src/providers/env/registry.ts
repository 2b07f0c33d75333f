import { gatewayProvider } from "./gateway.ts";
import type { EnvProvider } from "./provider.ts";
import { serverProvider } from "./server.ts";

const BUILT_IN: ReadonlyMap<string, EnvProvider> = new Map([gatewayProvider, serverProvider].map((one) => [one.capabilities.name, one]));

/** The environment provider of that name: a built-in one, or a plugin's. The name has been judged where the env was read. */
export function envProvider(name: string, ofPlugins: ReadonlyMap<string, EnvProvider>): EnvProvider {
  const provider = BUILT_IN.get(name) ?? ofPlugins.get(name);
  if (provider === undefined) throw new Error(`${name}: an env provider that was accepted and isn't there`);
  return provider;
}
