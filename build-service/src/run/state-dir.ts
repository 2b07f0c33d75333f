import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/**
 * The state folder: `$AGENT_ENV_STATE_DIR`, else `$XDG_STATE_HOME/agent-env`, else `~/.local/state/agent-env`
 * (2-architecture, Records and stores). Nothing is made.
 */
export function stateDirOf(environment: Readonly<Record<string, string | undefined>>): string {
  const chosen = environment["AGENT_ENV_STATE_DIR"];
  if (chosen !== undefined && chosen !== "") return resolve(chosen);
  const xdg = environment["XDG_STATE_HOME"];
  // The XDG specification: a path that isn't absolute is to be ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "agent-env");
  return join(environment["HOME"] || homedir(), ".local", "state", "agent-env");
}
