import { bodyTooSlow, brokenBody, type GatewayError } from "@agent-env/protocol";
import type { ClientFault } from "./seam.ts";

/** How long nothing may come of a body that is read whole. One that streams through has the proxy's own limit. */
export const BODY_SILENCE_MS = 30_000;

/** What a client is told whose body did not come whole, where it can still be told. */
export function clientFaultError({ kind }: ClientFault): GatewayError {
  return kind === "slow" ? bodyTooSlow(BODY_SILENCE_MS) : brokenBody();
}
