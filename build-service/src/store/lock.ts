import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import type { Lock } from "./store.ts";

/** How often a waiter looks whether the lock is free. */
const LOOK_EVERY_MS = 100;

export type LockRequest = {
  readonly name: string;
  /** Shown to those who wait. */
  readonly owner: string;
  /** Called once, with the holder's text, when the lock isn't free at once. */
  readonly onWait: (holder: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Holds `name` for this process alone. The lock is SQLite's own on a file of its own in `folder`, which the kernel drops
 * when the process ends, however it ends; nothing is ever left to clean up or to time out.
 */
export async function fileLock(folder: string, request: LockRequest): Promise<Lock> {
  for (let looked = false; ; looked = true) {
    const held = tryFileLock(folder, request.name, request.owner);
    if (held !== null) return held;
    if (!looked) request.onWait(lockHolder(folder, request.name));
    await delay(LOOK_EVERY_MS, undefined, { signal: request.signal });
  }
}

/** The lock if it is free now, else null. */
export function tryFileLock(folder: string, name: string, owner: string): Lock | null {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = lockPath(folder, name);
  const lock = lockFile(path);
  if (lock !== null) writeFileSync(`${path}.owner`, owner);
  return lock;
}

/** Whether some process holds the lock now. Makes nothing. */
export async function isLocked(folder: string, name: string): Promise<boolean> {
  const path = lockPath(folder, name);
  if (!existsSync(path)) return false;
  const lock = lockFile(path);
  await lock?.release();
  return lock === null;
}

/** Removes the files of a lock whose name nobody asks for again. */
export function forgetLock(folder: string, name: string): void {
  const path = lockPath(folder, name);
  rmSync(path, { force: true });
  rmSync(`${path}.owner`, { force: true });
}

function lockFile(path: string): Lock | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return {
    release: async () => {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

/** Who holds the lock, as its holder said; who held it last, when it is free by now. */
function lockHolder(folder: string, name: string): string {
  try {
    return readFileSync(`${lockPath(folder, name)}.owner`, "utf8");
  } catch (error) {
    if (isMissing(error)) return "another process";
    throw error;
  }
}

/** A name may hold any character and be long: the file is named by its digest. */
function lockPath(folder: string, name: string): string {
  return join(folder, `${createHash("sha256").update(name).digest("hex").slice(0, 32)}.lock`);
}

/** SQLITE_BUSY is 5, in the low byte of an extended code. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 5;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
