import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** One process of this machine. A pid is used again; together with `started` it names one process for ever. */
export type ProcessRow = {
  readonly pid: number;
  readonly group: number;
  /** It has ended, and its parent hasn't asked how. Nothing can or need be done about it. */
  readonly ended: boolean;
  /** When it started, in this system's own form: to be compared, not read. */
  readonly started: string;
};

/** All processes that can be seen, from `/proc`, or from `ps` where there is none. */
export async function processTable(): Promise<readonly ProcessRow[]> {
  return process.platform === "linux" ? await fromProc() : await fromPs();
}

/** When a process started, or null when there is none of that pid (an ended one that nobody has waited for counts as none). */
export async function startOf(pid: number): Promise<string | null> {
  const rows = process.platform === "linux" ? [await procRow(pid, await bootId())] : await fromPs();
  const row = rows.find((one) => one?.pid === pid);
  return row === undefined || row === null || row.ended ? null : row.started;
}

/** The memory that a process group's processes hold in RAM, pages that they share counted for each. */
export async function residentBytes(group: number): Promise<number> {
  if (process.platform !== "linux") {
    const rows = (await ps("pgid", "rss")).filter(([of]) => Number(of) === group);
    return rows.reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0);
  }
  const members = (await fromProc()).filter((row) => row.group === group);
  const texts = await Promise.all(members.map(({ pid }) => readIfThere(`/proc/${pid}/status`)));
  return texts.reduce((sum, text) => sum + Number(/^VmRSS:\s*(\d+) kB$/m.exec(text ?? "")?.[1] ?? 0) * 1024, 0);
}

/** The variables that a process of ours was started with, as `NAME=value`; none when it has ended or is another user's. */
export async function environmentOf(pid: number): Promise<readonly string[]> {
  if (process.platform === "linux") return (await readIfThere(`/proc/${pid}/environ`))?.split("\0") ?? [];
  // They follow the command's words, and nothing tells a blank inside a value from one between two.
  const output = await psOutput(["-p", String(pid), "-Eww", "-o", "command="]);
  return output.trim().split(/\s+/);
}

async function fromProc(): Promise<ProcessRow[]> {
  const boot = await bootId();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const rows = await Promise.all(pids.map((pid) => procRow(pid, boot)));
  return rows.filter((row) => row !== null);
}

/** Ticks since the boot mean nothing after the next one. */
async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

async function procRow(pid: number, boot: string): Promise<ProcessRow | null> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in parentheses, which may hold anything; proc(5) counts from 1.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const field = (number: number): string => fields[number - 3] ?? "";
  return {
    pid,
    group: Number(field(5)),
    ended: field(3) === "Z" || field(3) === "X",
    started: `${boot} ${field(22)}`,
  };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    // ESRCH: it ended between the opening and the reading. EACCES: another user's environment.
    if (error instanceof Error && "code" in error && ["ENOENT", "ESRCH", "EACCES"].includes(String(error.code))) return null;
    throw error;
  }
}

async function fromPs(): Promise<ProcessRow[]> {
  return (await ps("pid", "pgid", "stat", "lstart")).map(([pid, group, state, ...started]) => ({
    pid: Number(pid),
    group: Number(group),
    ended: state?.startsWith("Z") ?? false,
    started: started.join(" "),
  }));
}

async function ps(...columns: string[]): Promise<string[][]> {
  const output = await psOutput(["-A", ...columns.flatMap((column) => ["-o", `${column}=`])]);
  return output
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= columns.length);
}

async function psOutput(options: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("ps", options, { env: { ...process.env, LC_ALL: "C" }, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    // It ends so when it finds no process.
    if (error instanceof Error && "code" in error && error.code === 1) return "";
    throw error;
  }
}
