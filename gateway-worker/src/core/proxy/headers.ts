import { ROLE_HEADER, SITE_LAYERS_HEADER } from "@agent-env/protocol";
import { setsPageCookie, withoutCredentials } from "../auth/credentials.ts";
import { allValues } from "../fields.ts";
import { HOPS_FIELD, hopsOf } from "../route.ts";
import type { Field, In } from "../seam.ts";
import { timeFields, UNIVERSE_FIELD } from "../universe-time.ts";

/** Fields that end at the next hop (RFC 9110 §7.6.1), whether or not `Connection` names them. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "proxy-authorization",
  "proxy-authenticate",
]);
/** What the gateway says anew to a server. `expect` has been met by the time a body is passed on. */
const OURS_INWARD = new Set(["host", "expect", "agentenv-role", UNIVERSE_FIELD, "forwarded", HOPS_FIELD, SITE_LAYERS_HEADER.toLowerCase()]);
const OURS_OUTWARD = new Set(["date", "server"]);

/** What of `fields` may be passed on to the next hop. Order and repeated fields stay. */
export function endToEnd(fields: readonly Field[]): Field[] {
  const named = allValues(fields, "connection").flatMap((value) => value.toLowerCase().split(","));
  const dropped = named.map((part) => part.trim());
  return fields.filter(([name]) => !HOP_BY_HOP.has(name) && !dropped.includes(name));
}

/**
 * The fields of a request as a server gets them (3-wire §svc 3–5). `prefix` is what the caller's path has before the server's,
 * `time` the universe's.
 */
export function inward(request: In, caller: { readonly role: string; readonly prefix: string; readonly time: string | null }): Field[] {
  const kept = withoutCredentials(endToEnd(request.headers())).filter(
    ([name]) => !OURS_INWARD.has(name) && !name.startsWith("x-forwarded-"),
  );
  const fields: Field[] = [
    ...kept,
    [ROLE_HEADER.toLowerCase(), caller.role],
    [HOPS_FIELD, String(hopsOf(request) + 1)],
    ...timeFields(caller.time),
    ["x-forwarded-host", request.host],
    ["x-forwarded-proto", request.scheme],
  ];
  if (request.peer !== undefined) fields.push(["x-forwarded-for", request.peer]);
  if (caller.prefix !== "") fields.push(["x-forwarded-prefix", caller.prefix]);
  if (request.header("accept-encoding") === undefined) fields.push(["accept-encoding", "identity"]);
  return fields;
}

/** The fields of an answer as the client gets them: no server sets a cookie of the gateway's. */
export function outward(fields: readonly Field[]): Field[] {
  return endToEnd(fields).filter(([name, value]) => !OURS_OUTWARD.has(name) && !(name === "set-cookie" && setsPageCookie(value)));
}
