import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const Own = z.object({ version: z.string(), agentEnv: z.object({ bundles: z.record(z.string(), z.string()) }) });
const folder = fileURLToPath(new URL("../../", import.meta.url));

/** What this package itself brings: its version, and bundles as name → folder. */
export function ownPackage(): { readonly version: string; readonly bundles: ReadonlyMap<string, string> } {
  const { version, agentEnv } = Own.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  return { version, bundles: new Map(Object.entries(agentEnv.bundles).map(([name, path]) => [name, join(folder, path)])) };
}
