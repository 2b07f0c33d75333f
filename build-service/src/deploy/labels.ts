import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { sha256Hex } from "../bundle/ids.ts";
import type { SessionSpec } from "../providers/sandbox/provider.ts";

/** On everything that a deployment puts on a machine, from its creation on: teardown and `gc` need nothing else. */
export const LABELS = {
  deployment: "agent-env.deployment",
  owner: "agent-env.owner",
  expires: "agent-env.expires",
  /** Only the state folder that a run belongs to knows whether that run still lives. */
  state: "agent-env.state",
} as const;

/** How long a start may take. The labels' expiry leaves this much for it; once there is a record, its own expiry counts. */
export const START_ALLOWANCE_S = 1_800;

/** The labels of one deployment's things. */
export function labelsOf(spec: SessionSpec, stateDir: string): Record<string, string> {
  return {
    [LABELS.deployment]: spec.deploymentId,
    [LABELS.owner]: spec.owner,
    [LABELS.expires]: spec.expiresAt,
    [LABELS.state]: stateLabel(stateDir),
  };
}

/** A state folder's name in labels: the same by whatever path it is reached, and telling nothing of that path. */
export function stateLabel(stateDir: string): string {
  return sha256Hex(realPath(stateDir)).slice(0, 12);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    // Not made yet: then there is no link to it either.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return resolve(path);
    throw error;
  }
}
