import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import type { Lock } from "./store.ts";

/** How often a waiter looks whether the lock is free. */
const LOOK_EVERY_MS = 100;

/** A holder says who it is just after it has the lock: as often a waiter looks for that before it does without. */
const LOOKS_FOR_HOLDER = 10;

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
  for (let looks = 1, isTold = false; ; looks++) {
    const held = tryFileLock(folder, request.name, request.owner);
    if (held !== null) return held;
    const holder = lockHolder(folder, request.name);
    if (!isTold && (holder !== null || looks === LOOKS_FOR_HOLDER)) {
      request.onWait(holder ?? "another process");
      isTold = true;
    }
    await delay(LOOK_EVERY_MS, undefined, { signal: request.signal });
  }
}

/** The lock if it is free now, else null. */
export function tryFileLock(folder: string, name: string, owner: string): Lock | null {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = lockPath(folder, name);
  const lock = lockFile(path);
  if (lock === null) return null;
  writeFileSync(ownerPath(path), owner);
  return {
    release: async () => {
      rmSync(ownerPath(path), { force: true });
      await lock.release();
    },
  };
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
  rmSync(ownerPath(path), { force: true });
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

/** Who holds the lock, as its holder said; null as long as it hasn't. Who held it before, where that process was killed. */
function lockHolder(folder: string, name: string): string | null {
  try {
    return readFileSync(ownerPath(lockPath(folder, name)), "utf8") || null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const ownerPath = (lock: string): string => `${lock}.owner`;

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
