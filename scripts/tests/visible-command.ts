import { spawn } from "node:child_process";

const CLOSE_BUDGET_MS = 5_000;

/**
 * Runs a command in a process group of its own, so that nothing it started outlives its budget or our own end. What it
 * prints is collected and, with `show`, passed on. `code` is null when it was killed.
 */
export async function runVisibly(
  command: string,
  args: readonly string[],
  options: { budgetSeconds: number; show: boolean; cwd?: string },
): Promise<{ code: number | null; output: string }> {
  const env = options.show && process.stdout.isTTY ? process.env : { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };
  const child = spawn(command, args, { detached: true, stdio: ["ignore", "pipe", "pipe"], cwd: options.cwd, env });
  let output = "";
  for (const [from, to] of [[child.stdout, process.stdout] as const, [child.stderr, process.stderr] as const]) {
    from.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (options.show) to.write(chunk);
    });
  }
  const forward = (signal: NodeJS.Signals) => endGroup(child.pid, signal);
  const budget = setTimeout(() => endGroup(child.pid, "SIGKILL"), options.budgetSeconds * 1000);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  process.on("SIGINT", forward);
  process.on("SIGTERM", forward);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", resolve);
    });
    // What the command left running would hold its output open.
    endGroup(child.pid, "SIGKILL");
    await Promise.race([closed, new Promise<void>((resolve) => setTimeout(resolve, CLOSE_BUDGET_MS).unref())]);
    return { code, output };
  } finally {
    clearTimeout(budget);
    process.off("SIGINT", forward);
    process.off("SIGTERM", forward);
  }
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group has ended by itself.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
