import { UserError } from "@agent-env/protocol";

const REASONS: Readonly<Record<string, { readonly why: string; readonly next: string }>> = {
  ENOSPC: { why: "the disk is full", next: "free some space, then run the command again" },
  EDQUOT: { why: "your quota on that disk is used up", next: "free some space, then run the command again" },
  EROFS: { why: "that disk can only be read", next: "set AGENT_ENV_STATE_DIR to a folder that you can write" },
  EACCES: { why: "this user may not", next: "change the owner or the mode of that path" },
  EPERM: { why: "this user may not", next: "change the owner or the mode of that path" },
  EMFILE: { why: "this process has as many files open as it may", next: "raise the limit: ulimit -n 4096" },
};

/**
 * What the operating system refused, as a person can mend it; null for any other error, which is a bug. Told by the
 * error's code, never by its text.
 */
export function systemError(error: unknown): UserError | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  const reason = REASONS[error.code];
  if (reason === undefined) return null;
  const path = "path" in error && typeof error.path === "string" ? error.path : "a file of agent-env";
  const call = "syscall" in error && typeof error.syscall === "string" ? error.syscall : "use";
  return new UserError({ what: `${path}: could not ${call} it (${error.code})`, ...reason }, { cause: error });
}
