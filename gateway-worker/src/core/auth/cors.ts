import { headedBy } from "../headed.ts";
import type { Route } from "../route.ts";
import type { Field, In, Out } from "../seam.ts";
import type { View } from "../view.ts";
import { isAllowed, originProblem } from "./origin.ts";

const ALLOW_ORIGIN = "access-control-allow-origin";
const MAX_AGE: Field = ["access-control-max-age", "86400"];
/** A method or the name of a field (RFC 9110 §5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const MCP_HEADERS = [
  "Authorization",
  "Content-Type",
  "Accept",
  "Last-Event-ID",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "AgentEnv-Role",
];

/** On every answer of `/mcp`, errors too (6-mcp §12). */
export function mcpCorsFields(view: View, request: In): Field[] {
  const origin = request.header("origin");
  const fields: Field[] = [
    ["access-control-expose-headers", "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"],
    ["vary", "Origin"],
  ];
  const mayRead = origin !== undefined && originProblem(view, request) === null;
  return mayRead ? [[ALLOW_ORIGIN, origin], ...fields] : fields;
}

/** The answer to a preflight of `/mcp`. Headers must be named one by one, so each `Mcp-Param-…` that was asked for is. */
export function mcpPreflightFields(view: View, request: In): Field[] {
  const params = askedHeaders(request).filter((name) => /^mcp-param-/i.test(name));
  return [
    ["access-control-allow-methods", "GET, POST, DELETE"],
    ["access-control-allow-headers", [...MCP_HEADERS, ...params].join(", ")],
    MAX_AGE,
    ...mcpCorsFields(view, request),
  ];
}

/** What lets an allowed origin's page read an answer of any other route; nothing where no origin is allowed. */
export function corsFields(view: View, request: In): Field[] {
  const origin = request.header("origin");
  if (view.allowedOrigins.length === 0) return [];
  const vary: Field = ["vary", "Origin"];
  if (origin === undefined || !isAllowed(view, origin)) return [vary];
  return [[ALLOW_ORIGIN, origin], ["access-control-expose-headers", "*"], vary];
}

/** The answer of a route of the gateway's, or of a raw API, for allowed origins to read. One that says itself who may is left so. */
export function readable(view: View, to: Route, request: In, answer: Out): Out {
  const cors = to.to === "app" || to.to === "service" ? corsFields(view, request) : [];
  if (cors.length === 0) return answer;
  return headedBy(answer, (_status, fields) => (fields.some(([name]) => name === ALLOW_ORIGIN) ? fields : [...fields, ...cors]));
}

/**
 * Answers a preflight (Fetch standard) for a route of the gateway's or a raw API: before any authentication, as it can hold no
 * credentials. What an allowed origin may send there isn't narrowed: the request itself is judged. Sites answer theirs themselves.
 */
export function repliedPreflight(view: View, to: Route, request: In, answer: Out): boolean {
  const origin = request.header("origin");
  const method = request.header("access-control-request-method");
  if ((to.to !== "app" && to.to !== "service") || request.method !== "OPTIONS") return false;
  if (origin === undefined || method === undefined || !isAllowed(view, origin)) return false;
  const headers = askedHeaders(request);
  answer.reply(204, [
    ...(TOKEN.test(method) ? [["access-control-allow-methods", method] as const] : []),
    ...(headers.length === 0 ? [] : [["access-control-allow-headers", headers.join(", ")] as const]),
    MAX_AGE,
    [ALLOW_ORIGIN, origin],
    ["vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"],
  ]);
  return true;
}

function askedHeaders(request: In): string[] {
  const asked = request.header("access-control-request-headers") ?? "";
  return asked
    .split(",")
    .map((name) => name.trim())
    .filter((name) => TOKEN.test(name));
}
