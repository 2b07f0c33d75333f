import { setTimeout as delay } from "node:timers/promises";

/** What `promise` gives; rejects with the signal's reason when that is first. The promise goes on, and its end is then nobody's. */
export function until<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Waits between two tries of a probe; rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
