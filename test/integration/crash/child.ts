import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type ChildEnd = { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string };

export type Child = {
  readonly pid: number | undefined;
  readonly ended: Promise<ChildEnd>;
  /** Resolves once the text is in its output; rejects with what it has said when it ends without, or says no such thing in time. */
  seen(text: string): Promise<void>;
  /** Sends a line to its standard input. */
  tell(line: string): void;
};

/** What the children of all runs compile: half of a child's start. */
const COMPILED = join(tmpdir(), "agent-env-test-compiled");

/** Some ten times what a child on a busy machine needs to get anywhere. */
const SEEN_BUDGET_MS = 90_000;

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
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => {
        if (written.out.includes(text)) resolve();
      };
      const without = (how: string) => (): void =>
        reject(new Error(`${program}: ${how} without saying ${JSON.stringify(text)}: ${JSON.stringify(written)}`));
      const tooLate = setTimeout(without(`ran for ${SEEN_BUDGET_MS} ms`), SEEN_BUDGET_MS);
      waiting.add(look);
      look();
      ended.then(without("ended"), reject);
      await promise.finally(() => clearTimeout(tooLate));
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
  };
}

/** Runs such a program until it ends. */
export function runChild(program: string, order: unknown): Promise<ChildEnd> {
  const child = startChild(program, order);
  return child.ended;
}
