import { localProvider } from "./local/provider.ts";
import { processProvider } from "./process/provider.ts";
import type { SandboxProvider } from "./provider.ts";

/** The built-in providers, in the order in which `doctor` and `gc` go through them. */
export const SANDBOX_PROVIDERS: readonly SandboxProvider[] = [localProvider, processProvider];
