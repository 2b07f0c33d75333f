import { SANDBOXES, type SandboxName } from "../capabilities.ts";
import { localProvider } from "./local/provider.ts";
import { processProvider } from "./process/provider.ts";
import type { SandboxProvider } from "./provider.ts";

const PROVIDERS: Readonly<Record<SandboxName, SandboxProvider>> = { local: localProvider, process: processProvider };

/** The sandbox provider of that name. */
export function sandboxProvider(name: SandboxName): SandboxProvider {
  return PROVIDERS[name];
}

/** All of them, in the order in which `doctor` and `gc` go through them. */
export function sandboxProviders(): readonly SandboxProvider[] {
  return Object.values(PROVIDERS);
}

export function isSandboxName(name: string): name is SandboxName {
  return Object.hasOwn(SANDBOXES, name);
}
