import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";

/**
 * Keeps wrangler on this machine: without these it looks up hosts outside, and serves an explorer on the gateway's own port
 * that reads and changes every record.
 */
export const WRANGLER_SETTINGS = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  X_LOCAL_EXPLORER: "false",
  X_LOCAL_OBSERVABILITY: "false",
};

/** The nearest `wrangler.toml` above this program: the checkout's. `command` is what messages are about. */
export function wranglerConfig(command: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const config = join(folder, "wrangler.toml");
    if (existsSync(config)) return config;
    if (folder === dirname(folder)) {
      throw new UserError({
        what: `${command}: there is no wrangler.toml above this program`,
        why: "the edge gateway is served from a checkout of agent-env",
        next: "run the command in one",
        exitCode: 2,
      });
    }
  }
}

/** wrangler's program, as it is installed beside its configuration. */
export function wranglerProgram(command: string, config: string): string {
  const require = createRequire(config);
  try {
    return join(dirname(require.resolve("wrangler/package.json")), "bin", "wrangler.js");
  } catch (error) {
    throw new UserError(
      { what: `${command}: wrangler isn't installed here`, why: `looked for it from ${config}`, next: "npm ci", exitCode: 2 },
      { cause: error },
    );
  }
}
