import type { EnvProvider } from "../providers/env/provider.ts";
import { SANDBOX_PROVIDERS } from "../providers/sandbox/registry.ts";
import { NO_PRESETS, type Sandboxes, sandboxesOf } from "../providers/sandbox/sandboxes.ts";
import { BUILT_IN, type Registry } from "../types/registry.ts";

/** What this program and its project's plugins can plan, run and deploy with. */
export type Installed = {
  readonly registry: Registry;
  /** The env providers of plugins, by name. */
  readonly envProviders: ReadonlyMap<string, EnvProvider>;
  readonly sandboxes: Sandboxes;
};

/** Without plugins, and without presets. */
export const NO_PLUGINS: Installed = {
  registry: BUILT_IN,
  envProviders: new Map(),
  sandboxes: sandboxesOf(SANDBOX_PROVIDERS, NO_PRESETS, () => ""),
};
