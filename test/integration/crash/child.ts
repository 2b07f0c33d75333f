import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type ChildEnd = { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string };

export type Child = {
  readonly pid: number | undefined;
  readonly ended: Promise<ChildEnd>;
  /** Resolves once the text is in its output; rejects when it ends without. */
  seen(text: string): Promise<void>;
  /** Sends a line to its standard input. */
  tell(line: string): void;
};

/** What the children of all runs compile: half of a child's start. */
const COMPILED = join(tmpdir(), "agent-env-test-compiled");

/** Starts a program of this folder in a process of its own; it gets `order` as JSON. */
export function startChild(program: string, order: unknown): Child {
  const child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), JSON.stringify(order)], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  const written = { out: "", err: "" };
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.out += text;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.err += text;
  });
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, ...written }));
  });
  return {
    pid: child.pid,
    ended,
    async seen(text) {
      const isThere = new Promise<void>((resolve) => {
        const look = (): void => {
          if (written.out.includes(text)) resolve();
        };
        waiting.add(look);
        look();
      });
      const tooLate = ended.then((end) => {
        if (!end.out.includes(text)) throw new Error(`ended without saying ${JSON.stringify(text)}: ${JSON.stringify(end)}`);
      });
      await Promise.race([isThere, tooLate]);
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
  };
}

/** Runs such a program until it ends. */
export function runChild(program: string, order: unknown): Promise<ChildEnd> {
  const child = startChild(program, order);
  return child.ended;
}
