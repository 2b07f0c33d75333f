import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type ChildEnd = { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string };

/** What the children of all runs compile: half of a child's start. */
const COMPILED = join(tmpdir(), "agent-env-test-compiled");

/** Runs a program of this folder in a process of its own until it ends; it gets `order` as JSON. */
export function runChild(program: string, order: unknown): Promise<ChildEnd> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}
