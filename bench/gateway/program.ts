import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lastLines } from "../../scripts/setup/command.ts";
import { until } from "../../test/fixtures/until.ts";

const READY_BUDGET_MS = 60_000;
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

/** A program that is measured, or that stands behind one. */
export type Program = {
  readonly pid: number;
  /** What of processor time it has used so far, without its children's. */
  cpuSeconds(): number;
  /** What of memory is resident now. */
  residentBytes(): number;
  stop(): Promise<void>;
};

export type ProgramOptions = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly folder: string;
  /** It is there once this answers, whatever it says. */
  readonly readyUrl: string;
  readonly env?: NodeJS.ProcessEnv;
};

/** Starts a program and waits until it answers. It ends when this process does. What it prints goes to a file in `folder`. */
export async function startProgram({ name, argv, folder, readyUrl, env }: ProgramOptions): Promise<Program> {
  // setpriv(1) becomes the program
  const args = ["--pdeathsig", "KILL", ...argv];
  const log = join(folder, `${name}.log`);
  const output = openSync(log, "a");
  const whole = { PATH: process.env["PATH"] ?? "", HOME: folder, ...env };
  const child = spawn("setpriv", args, { cwd: folder, env: whole, stdio: ["ignore", output, output] });
  closeSync(output);
  const ended = new Promise<string>((resolve) => {
    child.once("exit", () => resolve(lastLines(readFileSync(log, "utf8"), 6)));
    child.once("error", (error) => resolve(error.message));
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  const tooEarly = ended.then((said) => Promise.reject(new Error(`${name} has ended: ${said}`)));
  tooEarly.catch(() => undefined);
  try {
    await Promise.race([until(`${name} answers at ${readyUrl}`, READY_BUDGET_MS, () => answers(readyUrl)), tooEarly]);
  } catch (error) {
    await stop();
    throw error;
  }
  const pid = pidOf(child);
  return { pid, cpuSeconds: () => cpuSecondsOf(pid), residentBytes: () => residentBytesOf(pid), stop };
}

async function answers(url: string): Promise<boolean> {
  await (await fetch(url)).body?.cancel();
  return true;
}

function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`${spawnfile} was not started`);
  return pid;
}

/** User and system time, of proc_pid_stat(5). The name before them may hold blanks. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentBytesOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
}
