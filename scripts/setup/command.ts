import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type CommandOptions = {
  /** The command is killed after this time, and the result's `code` is null. */
  readonly budgetSeconds: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: Readable;
};

/** Runs a command to its end and gives what it printed. Throws only when the command can't be started. */
export async function run(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: [options.input ? "pipe" : "ignore", "pipe", "pipe"],
    timeout: options.budgetSeconds * 1000,
    killSignal: "SIGKILL",
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const fed = options.input && child.stdin ? pipeline(options.input, child.stdin) : Promise.resolve();
  const [code] = await Promise.all([closed, fed]);
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

/** Runs a command that has to succeed and gives its standard output. The error holds the last lines it printed. */
export async function mustRun(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const result = await run(command, args, options);
  if (result.code === 0) return result.stdout;
  const ending = result.code === null ? `did not end within ${options.budgetSeconds} s` : `ended with ${result.code}`;
  throw new Error(`${[command, ...args].join(" ")} ${ending}: ${lastLines(result.stderr || result.stdout, 8)}`);
}

/** The last `count` lines of `text` that hold anything. */
export function lastLines(text: string, count: number): string {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-count)
    .join("\n");
}

/** The full path of a program on PATH, or null. Folders that a root shell knows and a plain one may not are searched too. */
export function which(program: string, path = process.env["PATH"] ?? ""): string | null {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ""), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
