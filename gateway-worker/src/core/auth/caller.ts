import { ROLE_HEADER, roleFromHeader } from "@agent-env/protocol";
import type { In } from "../seam.ts";

/** Who a request acts for. */
export type Caller = { readonly role: string };

const ROLE_FIELD = ROLE_HEADER.toLowerCase();

/** The caller of a request to an open deployment: the first role header is believed. */
export function callerOf(request: In): Caller {
  return { role: roleFromHeader(request.header(ROLE_FIELD)) };
}

/** The role that a request names, or undefined if it names none. */
export function namedRoleOf(request: In): string | undefined {
  const value = request.header(ROLE_FIELD)?.trim() ?? "";
  return value === "" ? undefined : value;
}
