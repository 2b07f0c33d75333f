import type { Emit } from "../report/events.ts";
import type { Lock, Store } from "../store/store.ts";
import { byCodePoint } from "./code-points.ts";

/** What is going to be written: `artifact @local/~/demo/items__env_image`, its id, and how it is shown. */
export type Claim = { readonly key: string; readonly id: string; readonly label: string };

export type LockContext = {
  readonly store: Store;
  /** Shown to those who wait. */
  readonly owner: string;
  readonly emit: Emit;
  readonly signal: AbortSignal;
};

/** A lock for each id that is going to be written, in one order for all writers, so that no two wait for each other (4-bundle §9.5). */
export async function lockWrites(claims: readonly Claim[], { store, owner, emit, signal }: LockContext): Promise<Lock[]> {
  const told = new Set<string>();
  const locks: Lock[] = [];
  try {
    for (const { key, id, label } of claims.toSorted((a, b) => byCodePoint(a.key, b.key))) {
      const onWait = (holder: string): void => {
        if (told.has(holder)) return;
        told.add(holder);
        emit({ kind: "wait", entry: label, message: `waits for ${holder}, which writes ${id}` });
      };
      locks.push(await store.of(id).lock(`write/${key}`, owner, onWait, signal));
    }
    return locks;
  } catch (error) {
    for (const lock of locks) await lock.release();
    throw error;
  }
}

/** How this process is shown to those who wait for what it writes. */
export function lockOwner(name: string): string {
  return `${name} (pid ${process.pid}, since ${new Date().toISOString()})`;
}
