import { holds, ROLE_HEADER, roleFromHeader, type Scope } from "@agent-env/protocol";
import { allValues } from "../fields.ts";
import type { In } from "../seam.ts";
import { sha256Hex } from "../sha256.ts";

/** Who a request acts for, and what it may do. */
export type Caller = {
  readonly role: string;
  /** Null: everything, as in open mode. */
  readonly scopes: readonly Scope[] | null;
  /** What sessions and upstream sessions are bound to. In open mode all callers of one role are one caller. */
  readonly owner: string;
  /** False: it has named no role in open mode, and may go on with the session of any. */
  readonly isNamed: boolean;
  /** The session that its token names, if it names one. */
  readonly session: string | undefined;
};

const ROLE_FIELD = ROLE_HEADER.toLowerCase();

/** The caller of a request to an open deployment: the first role header is believed. */
export function openCaller(request: In): Caller {
  const named = namedRolesOf(request)[0];
  const role = roleFromHeader(named);
  return { role, scopes: null, owner: ownerOfRole(role), isNamed: named !== undefined, session: undefined };
}

/** The caller whom a token or a page's cookie names. */
export function namedCaller(who: { sub: string; role: string; scope: readonly Scope[]; session?: string | undefined }): Caller {
  const { sub, role, scope, session } = who;
  return { role, scopes: scope, owner: `token-${sha256Hex(JSON.stringify([sub, role])).slice(0, 32)}`, isNamed: true, session };
}

/** Nobody in particular: for what anybody may ask. */
export function anyone(): Caller {
  return { role: roleFromHeader(undefined), scopes: [], owner: "anyone", isNamed: true, session: undefined };
}

/** What a session of a role is bound to in open mode. */
export function ownerOfRole(role: string): string {
  return `role ${role}`;
}

/** Whether a caller has a scope. */
export function may(caller: Caller, scope: Scope): boolean {
  return caller.scopes === null || holds(caller.scopes, scope);
}

/** The roles that a request names: several fields, or one with commas (RFC 9110 §5.3), as Workers join them. */
export function namedRolesOf(request: In): string[] {
  return allValues(request.headers(), ROLE_FIELD)
    .flatMap((value) => value.split(","))
    .map((role) => role.trim())
    .filter((role) => role !== "");
}
