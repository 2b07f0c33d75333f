import { readFileSync } from "node:fs";
import { z } from "zod";

/** This agent-env's version, as its package says it. */
export function agentEnvVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}
