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

test.each([
  ["who the first is", "run-1, pid 7", "run-1, pid 7"],
  ["of another process, where the first never says", "", "another process"],
])("B8.5 a second holder waits, is told once %s, and gets the lock when the first lets go", async (_what, owner, holder) => {
  const first = tryFileLock(folder, "env items", owner);
  const told: string[] = [];
  const second = fileLock(folder, {
    name: "env items",
    owner: "run-2",
    onWait: (text) => {
      told.push(text);
      void first?.release();
    },
    signal: new AbortController().signal,
  });
  await (await second).release();
  expect(told).toEqual([holder]);
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
