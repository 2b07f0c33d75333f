import { type ChildProcess, spawn } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { Writable } from "node:stream";
import { startOf } from "./process-table.ts";

/**
 * Waits for a line on descriptor 3 before the server runs. It comes once the process is registered; when agent-env dies
 * before that, the descriptor ends, and so does the shell: nothing runs that nobody knows of. What the shell adds to the
 * environment is taken out again.
 */
const WHEN_REGISTERED = "read -r go <&3 || exit 1; exec 3<&-; unset PWD OLDPWD SHLVL go;";
const ONCE = `${WHEN_REGISTERED} exec "$@"`;
const RESTARTED = `${WHEN_REGISTERED} until "$@"; do echo "agent-env: ended with status $?, started again in 1 s" >&2; sleep 1; done`;
/** What it writes into the log between two starts. */
const RESTART = /^agent-env: ended with status (\d+), started again/gm;

export type Launch = {
  readonly argv: readonly string[];
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Start it again when it ends with an error. */
  readonly restart: boolean;
};

export type Launched = {
  /** Null while it runs; else how it ended. */
  exited(): string | null;
};

/** The exit codes, in order, of the starts of a server that a log tells of. */
export function restartsIn(log: string): string[] {
  return [...log.matchAll(RESTART)].map(([, code = ""]) => code);
}

/**
 * Starts a server as a process group of its own that outlives this process. `register` is given its pid and start time, and
 * the server runs only after that has come back.
 */
export async function launch(spec: Launch, register: (pid: number, started: string) => Promise<void>): Promise<Launched> {
  const log = await open(spec.logFile, "a", 0o600);
  try {
    return await launchInto(log, spec, register);
  } finally {
    await log.close();
  }
}

async function launchInto(log: FileHandle, spec: Launch, register: (pid: number, started: string) => Promise<void>): Promise<Launched> {
  const child = spawn("/bin/sh", ["-c", spec.restart ? RESTARTED : ONCE, "agent-env", ...spec.argv], {
    cwd: spec.workingFolder,
    env: spec.environment,
    detached: true,
    stdio: ["ignore", log.fd, log.fd, "pipe"],
  });
  let ended: string | null = null;
  child.once("exit", (code, signal) => {
    ended = `it has ended: ${signal === null ? `exit code ${code}` : `by ${signal}`}`;
  });
  const pid = await pidOf(child);
  const go = child.stdio[3];
  if (!(go instanceof Writable)) throw new Error("a pipe was asked for");
  // It may end at any time, and then nobody reads.
  go.on("error", () => {});
  const started = await startOf(pid);
  if (started === null) throw new Error(`process ${pid} ended before it was told to run`);
  try {
    await register(pid, started);
    go.end("go\n");
  } catch (error) {
    go.destroy();
    throw error;
  }
  child.unref();
  return { exited: () => ended };
}

function pidOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => (child.pid === undefined ? reject(new Error("a spawned process has no pid")) : resolve(child.pid)));
  });
}
