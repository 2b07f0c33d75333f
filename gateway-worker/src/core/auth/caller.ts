import { ROLE_HEADER, roleFromHeader } from "@agent-env/protocol";
import type { In } from "../seam.ts";

/** Who a request acts for. */
export type Caller = { readonly role: string };

const ROLE_FIELD = ROLE_HEADER.toLowerCase();

/** The caller of a request to an open deployment: the first role header is believed. */
export function callerOf(request: In): Caller {
  return { role: roleFromHeader(namedRoleOf(request)) };
}

/** The role that a request names, or undefined if it names none. */
export function namedRoleOf(request: In): string | undefined {
  // repeated fields may come joined by commas (RFC 9110 §5.3), and on Workers do: the first counts
  const first = request.header(ROLE_FIELD)?.split(",")[0]?.trim() ?? "";
  return first === "" ? undefined : first;
}
