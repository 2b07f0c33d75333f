import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work may go on without looking at what has come meanwhile. */
const EVERY_MS = 50;

/**
 * Lets long synchronous work be interrupted: what it gives is called after each part of it, and now and then lets a signal that
 * waits be handled. Throws the reason of `signal` once that is aborted.
 */
export function pauses(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - since < EVERY_MS) return;
    await nextTurn();
    since = performance.now();
    signal.throwIfAborted();
  };
}

/** For work that nothing interrupts. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;
