import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileLock, isLocked, tryFileLock } from "./lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-env-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("B8.5 a second holder waits, is told once for what, and gets the lock when the first lets go", async () => {
  const first = tryFileLock(folder, "env items", "run-1, pid 7");
  const told: string[] = [];
  const second = fileLock(folder, {
    name: "env items",
    owner: "run-2",
    onWait: (holder) => {
      told.push(holder);
      void first?.release();
    },
    signal: new AbortController().signal,
  });
  await (await second).release();
  expect(told).toEqual(["run-1, pid 7"]);
});

test("B8.5 a second holder that comes before the first has said who it is is told that", async () => {
  const first = tryFileLock(folder, "env items", "run-1, pid 7");
  const ownerFile = join(folder, readdirSync(folder).find((name) => name.endsWith(".owner")) ?? "");
  writeFileSync(ownerFile, "");
  const told = new Promise<string>((resolve) => {
    void fileLock(folder, { name: "env items", owner: "run-2", onWait: resolve, signal: new AbortController().signal });
  });
  await delay(0);
  writeFileSync(ownerFile, "run-1, pid 7");
  expect(await told).toBe("run-1, pid 7");
  await first?.release();
});

test("a holder that never says who it is is another process", async () => {
  const first = tryFileLock(folder, "x", "");
  const told: string[] = [];
  const second = fileLock(folder, {
    name: "x",
    owner: "second",
    onWait: (holder) => {
      told.push(holder);
      void first?.release();
    },
    signal: new AbortController().signal,
  });
  await (await second).release();
  expect(told).toEqual(["another process"]);
});

test("B8.5 a lock ends with its process, also when that is killed", async () => {
  const holder = spawn(process.execPath, [
    "--input-type=module",
    "-e",
    `import { tryFileLock } from ${JSON.stringify(new URL("lock.ts", import.meta.url).href)};
     globalThis.lock = tryFileLock(${JSON.stringify(folder)}, "x", "child");
     console.log("held"); setInterval(() => {}, 1000);`,
  ]);
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  expect(await isLocked(folder, "x")).toBe(true);
  const gone = new Promise((resolve) => holder.once("exit", resolve));
  holder.kill("SIGKILL");
  await gone;
  expect(await isLocked(folder, "x")).toBe(false);
});

test("waiting ends when the signal says so", async () => {
  const first = tryFileLock(folder, "x", "first");
  const stop = new AbortController();
  const waiting = fileLock(folder, { name: "x", owner: "second", onWait: () => stop.abort(), signal: stop.signal });
  await expect(waiting).rejects.toThrow("abort");
  await first?.release();
});

test("names that look alike are different locks", () => {
  expect(tryFileLock(folder, "env a", "1")).not.toBeNull();
  expect(tryFileLock(folder, "env b", "2")).not.toBeNull();
});
