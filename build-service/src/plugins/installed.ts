import type { EnvProvider } from "../providers/env/provider.ts";
import { BUILT_IN, type Registry } from "../types/registry.ts";

/** What this program and its project's plugins can plan, run and deploy with. */
export type Installed = {
  readonly registry: Registry;
  /** The env providers of plugins, by name. */
  readonly envProviders: ReadonlyMap<string, EnvProvider>;
};

/** Without plugins. */
export const NO_PLUGINS: Installed = { registry: BUILT_IN, envProviders: new Map() };
