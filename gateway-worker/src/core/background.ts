import type { Host } from "./seam.ts";

/** Lets work outlive its request. What it throws is a bug of ours: it is logged, and hurts nothing else that is served. */
export function inBackground(host: Pick<Host, "background" | "log">, work: Promise<unknown>): void {
  host.background(work.catch((error: unknown) => logBug(host, error)));
}

/** A line with the stack of what should never have been thrown. */
export function logBug(host: Pick<Host, "log">, error: unknown): void {
  host.log(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}
