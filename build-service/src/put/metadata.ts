import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UserError } from "@agent-env/protocol";
import { shownValue } from "../bundle/shown.ts";

const OURS = ["agent_env_version", "git_commit", "git_dirty"];

/** What a put writes of itself (4-bundle §11.2): no path and no user's name. */
export type PutMetadata = Readonly<Record<string, unknown>>;

/**
 * A put's metadata: this agent-env's version, the commit of the repository that `source` lies in and whether something in
 * it isn't committed, and what the user gives as `K=V`. `source` null: nothing is read from a folder.
 */
export async function putMetadata(put: {
  readonly version: string;
  readonly source: string | null;
  readonly given: readonly string[];
}): Promise<PutMetadata> {
  const given = keyValues("--metadata", put.given);
  const taken = Object.keys(given).find((key) => OURS.includes(key));
  if (taken !== undefined) {
    throw new UserError({
      what: `--metadata: ${shownValue(taken)} is written by agent-env itself`,
      why: `so are ${OURS.join(", ")}`,
      next: "give it another key",
      exitCode: 2,
    });
  }
  return { agent_env_version: put.version, ...(put.source === null ? {} : await gitState(put.source)), ...given };
}

/** `K=V` options as an object. Throws a UserError (exit code 2) for one without a key or `=`, and for a key that is given twice. */
export function keyValues(option: string, given: readonly string[]): Record<string, string> {
  const values = new Map<string, string>();
  for (const text of given) {
    const [key, value] = keyValue(option, text);
    if (values.has(key)) {
      throw new UserError({
        what: `${option}: the key ${shownValue(key)} is given twice`,
        why: "it can have one value only",
        next: "give it once",
        exitCode: 2,
      });
    }
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

function keyValue(option: string, text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UserError({
    what: `${option}: expected KEY=VALUE, and found ${shownValue(text)}`,
    why: at === 0 ? "the key is empty" : 'there is no "=" in it',
    next: `write ${option} KEY=VALUE`,
    exitCode: 2,
  });
}

/** Nothing where there is no git, no repository, or no commit yet. */
async function gitState(folder: string): Promise<PutMetadata> {
  const commit = await git(folder, ["rev-parse", "--verify", "HEAD"]);
  const changes = commit === null ? null : await git(folder, ["status", "--porcelain", "--untracked-files=normal", "--", "."]);
  return commit === null || changes === null ? {} : { git_commit: commit, git_dirty: changes !== "" };
}

/** A repository's own settings could name a program to run; reading its state must start none. */
async function git(folder: string, words: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)("git", ["-C", folder, "-c", "core.fsmonitor=false", ...words], {
      env: { ...process.env, GIT_OPTIONAL_LOCKS: "0" },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.trim();
  } catch (error) {
    if (error instanceof Error && "code" in error) return null;
    throw error;
  }
}
