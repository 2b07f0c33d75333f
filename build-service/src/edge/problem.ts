import { UserError } from "@agent-env/protocol";

/** One thing that keeps the gateway from being deployed. */
export type DeployProblem = { readonly what: string; readonly why: string; readonly next: string };

/** What a `UserError` says, as one of several. Anything else is a bug, and stays thrown. */
export function problemOf(error: unknown): DeployProblem {
  if (!(error instanceof UserError)) throw error;
  return { what: error.message, why: error.why, next: error.next };
}
