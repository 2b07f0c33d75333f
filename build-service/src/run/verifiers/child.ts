import { type ChildProcess, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { residentBytes } from "../../providers/sandbox/process/process-table.ts";
import { endStrays } from "../../providers/sandbox/process/strays.ts";
import { logLines } from "./log-lines.ts";

/**
 * Runs the command beside a watcher of the same process group. When descriptor 4 ends, because agent-env has, the watcher
 * removes the script's folder and ends the group, itself included: not even `kill -9` of agent-env leaves a script behind.
 * What the shell adds to the environment is taken out again.
 */
const WATCHED = '(read -r _ <&4; rm -rf "$0"; kill -9 0) & exec 4<&-; unset PWD OLDPWD SHLVL; exec "$@"';

const MEMORY_CHECK_MS = 250;
/** How long output may still arrive after the group is ended: a process that left the group may hold it open for ever. */
const DRAIN_MS = 1_000;

export type ChildRequest = {
  readonly argv: readonly string[];
  /** All of the script's files lie in it. */
  readonly folder: string;
  /** Its working folder and HOME. */
  readonly home: string;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** Of what it prints, and of what it reports. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
  readonly onLog: (line: string) => void;
  /** A line that it reported. Returns true when that was the last one that is wanted; what it throws ends the child. */
  readonly onReport: (line: string) => boolean;
};

/** Why a child was ended: it was `done`, went over a limit, or ended by itself. */
export type ChildEnd =
  | { readonly by: "done" | "timeout" | "memory" | "output" }
  | { readonly by: "itself"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Runs a command as a process group of its own, and ends that group whatever happens. Rejects with `signal.reason` on abort. */
export async function runChild(request: ChildRequest): Promise<ChildEnd> {
  const { signal, home } = request;
  signal.throwIfAborted();
  const child = spawn("/bin/sh", ["-c", WATCHED, request.folder, ...request.argv], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, LANG: process.env.LANG ?? "C.UTF-8" },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  try {
    return await firstEnd(child, request);
  } finally {
    endGroup(child);
    await endStrays(request.folder);
    const drained = AbortSignal.timeout(DRAIN_MS);
    await Promise.race([closed, new Promise((resolve) => drained.addEventListener("abort", resolve))]);
    for (const stream of child.stdio) stream?.destroy();
  }
}

async function firstEnd(child: ChildProcess, request: ChildRequest): Promise<ChildEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ChildEnd>();
  const end = (by: "done" | "timeout" | "memory" | "output") => resolve({ by });
  const abort = () => reject(request.signal.reason);
  child.once("error", reject);
  child.once("exit", (code, signal) => resolve({ by: "itself", code, signal }));
  request.signal.addEventListener("abort", abort);
  const timer = setTimeout(() => end("timeout"), request.timeoutMs);
  const memory = setInterval(() => {
    if (child.pid !== undefined) residentBytes(child.pid).then((bytes) => bytes > request.memoryBytes && end("memory"), reject);
  }, MEMORY_CHECK_MS);

  let left = request.outputBytes;
  const counted = (take: (chunk: Uint8Array) => void) => (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) end("output");
    else take(chunk);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const lines = logLines(request.onLog);
    stream?.on("data", counted(lines.push));
    stream?.once("close", lines.end);
  }
  const reports = child.stdio[3];
  if (!(reports instanceof Readable)) throw new Error("a pipe was asked for");
  const take = reportLines((line) => request.onReport(line) && end("done"));
  reports.on(
    "data",
    counted((chunk) => {
      try {
        take(chunk);
      } catch (error) {
        reject(error);
      }
    }),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(memory);
    request.signal.removeEventListener("abort", abort);
  }
}

/** Whole lines only, however long: what a script reports is one JSON document a line. */
function reportLines(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  let chunks: Uint8Array[] = [];
  return (chunk) => {
    let rest = chunk;
    for (let at = rest.indexOf(0x0a); at !== -1; at = rest.indexOf(0x0a)) {
      onLine(Buffer.concat([...chunks, rest.subarray(0, at)]).toString("utf8"));
      chunks = [];
      rest = rest.subarray(at + 1);
    }
    chunks.push(rest);
  };
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
