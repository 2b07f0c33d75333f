import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { forgetLock, isLocked, tryFileLock } from "./lock.ts";
import type { Lock } from "./store.ts";

/** A run's id: what labels its containers and owns its deployments. Sorts by time. */
export function newRunId(now: Date): string {
  return `run-${now.toISOString().replace(/[-:]/g, "").slice(0, 15).toLowerCase()}-${randomBytes(4).toString("hex")}`;
}

/** Marks the run as alive until it is released or this process ends, however it ends. */
export function holdRun(stateDir: string, runId: string): Lock {
  const folder = runsFolder(stateDir);
  const lock = tryFileLock(folder, runId, `pid ${process.pid}`);
  if (lock === null) throw new Error(`${runId}: its lock is held already`);
  return {
    release: async () => {
      await lock.release();
      forgetLock(folder, runId);
    },
  };
}

/** Whether the process of that run still lives. What it owns is left over once it doesn't. */
export async function runIsAlive(stateDir: string, runId: string): Promise<boolean> {
  return isLocked(runsFolder(stateDir), runId);
}

const runsFolder = (stateDir: string): string => join(stateDir, "locks", "runs");
