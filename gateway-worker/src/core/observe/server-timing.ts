import { type Caller, may } from "../auth/caller.ts";
import type { Field, In } from "../seam.ts";

/** How long a request took until the head of its answer: in servers it was waiting for, and otherwise in the gateway. */
export type Timing = { readonly totalMs: number; readonly upstreamMs: number };

/** The field that says so (W3C Server Timing). A server's own stays beside it. */
export function serverTimingField({ totalMs, upstreamMs }: Timing): Field {
  return ["server-timing", `gateway;dur=${written(totalMs - upstreamMs)}, upstream;dur=${written(upstreamMs)}`];
}

/**
 * Whether a caller is shown times: one who may read the deployment's state. Never what a browser asks: in a page's reach its
 * scripts would read how long the gateway, and sites that aren't theirs, have worked.
 */
export function seesTiming(caller: Caller, request: In): boolean {
  const isBrowser = request.header("origin") !== undefined || request.header("sec-fetch-site") !== undefined;
  return may(caller, "read") && !isBrowser;
}

/** Milliseconds to the microsecond. */
function written(ms: number): string {
  return String(Math.max(0, Math.round(ms * 1000) / 1000));
}
