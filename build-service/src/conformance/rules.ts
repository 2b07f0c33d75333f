import type { Card } from "@agent-env/protocol";
import { callsOf, extensionOf } from "./extensions.ts";

/** A role that is nobody's. Always the same, so that rules about it don't pile up. */
export const ROLE = "agent-env-conformance";
/** Another one, which has no rules. */
export const OTHER_ROLE = "agent-env-conformance-other";

/** Where rules about roles are set; null where whoever has the card keeps none (3-wire §roles). */
export function ruleEndpoints(card: Card): { readonly disable: string; readonly enable: string } | null {
  const [disable, enable] = ["disable", "enable"].map((op) => {
    const extension = extensionOf(card, `urn:agentenv:${op}-tool/v1`);
    return extension === undefined ? null : callsOf(extension)[0]?.endpoint;
  });
  return disable && enable ? { disable, enable } : null;
}
