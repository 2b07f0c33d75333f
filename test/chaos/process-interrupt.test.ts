import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { environmentOf, processTable } from "../../build-service/src/providers/sandbox/process/process-table.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const CLI = fileURLToPath(new URL("../../build-service/bin/agent-env.js", import.meta.url));

let state: ReturnType<typeof temporaryFolder>;
let temporary: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  state = temporaryFolder();
  temporary = temporaryFolder();
});
afterEach(() => {
  state[Symbol.dispose]();
  temporary[Symbol.dispose]();
});

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, AGENT_ENV_STATE_DIR: state.path, TMPDIR: temporary.path };
}

/** Runs `hello` until its output holds `text`. */
async function runUntil(text: string): Promise<ChildProcess> {
  const run = spawn(process.execPath, [CLI, "run", "hello", "--sandbox", "process"], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, as a terminal gives to a command.
    detached: true,
  });
  let output = "";
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  for (const stream of [run.stdout, run.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
      if (output.includes(text)) resolve();
    });
  }
  run.once("close", () => reject(new Error(`it ended without ${JSON.stringify(text)}:\n${output}`)));
  await promise;
  return run;
}

/** Servers and verifiers that run from the state folder or the temporary one. */
async function stillRunning(): Promise<number[]> {
  const found = await Promise.all(
    (await processTable()).map(async ({ pid, ended }) => {
      const home = (await environmentOf(pid)).find((variable) => variable.startsWith("HOME="))?.slice("HOME=".length) ?? "";
      return !ended && (home.startsWith(state.path) || home.startsWith(temporary.path)) ? [pid] : [];
    }),
  );
  return found.flat();
}

function deployments(): string[] {
  const folder = join(state.path, "deployments");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function agentEnv(...args: string[]): { status: number | null; stdout: string } {
  const { status, stdout } = spawnSync(process.execPath, [CLI, ...args], { env: environment(), encoding: "utf8" });
  return { status, stdout };
}

describe("P3 an interrupted run on sandbox process", () => {
  test.each([
    ["SIGINT to its whole group, as from a terminal", 130, "deploying"],
    ["SIGTERM", 143, "is up at"],
  ] as const)("%s is exit code %d, and leaves no process and no folder (at %j)", async (signal, code, text) => {
    const run = await runUntil(text);
    const pid = run.pid ?? 0;
    if (signal === "SIGTERM") process.kill(pid, "SIGTERM");
    else process.kill(-pid, "SIGINT");
    expect(await once(run, "exit")).toEqual([code, null]);
    expect(await stillRunning()).toEqual([]);
    expect(deployments()).toEqual([]);
    expect(readdirSync(temporary.path).filter((name) => name.startsWith("agent-env-"))).toEqual([]);
  });

  test.each(["deploying", "is up at", "verify: "])("N8 after kill -9 at %j, gc lists and removes what is left", async (text) => {
    const run = await runUntil(text);
    run.kill("SIGKILL");
    await once(run, "exit");
    expect(agentEnv("gc").status).toBe(0);
    expect(await stillRunning()).toEqual([]);
    expect(deployments()).toEqual([]);
    expect(agentEnv("gc", "--dry-run")).toEqual({ status: 0, stdout: "nothing is left over\n" });
  });
});
