import { browserWithoutToken, foreignOrigin, type GatewayError } from "@agent-env/protocol";
import type { Field, In } from "../seam.ts";
import type { HostRules, View } from "../view.ts";

/** The host name of a `Host` value, in lower case, without port and brackets. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d*$/, "")).toLowerCase();
}

/** Whether a `Host` may be answered at all: anything else could be DNS rebinding (6-mcp §12). */
export function isServedHost(rules: HostRules, host: string): boolean {
  if (rules.any) return true;
  const name = hostName(host);
  return isLoopback(name) || rules.names.includes(name) || rules.suffixes.some((suffix) => name.endsWith(`.${suffix}`));
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/**
 * What a page may not do with its viewer's reach: null for programs, for this address's own pages where no site is served
 * under it, and for the allowed origins. Host labels of sites are never such an origin.
 */
export function originProblem(view: View, request: In): GatewayError | null {
  const origin = request.header("origin");
  if (origin !== undefined && origin !== ownOrigin(request) && !view.allowedOrigins.includes(origin)) return foreignOrigin();
  const fromBrowser = origin !== undefined || request.header("sec-fetch-site") !== undefined;
  return fromBrowser && view.sites.size > 0 && !isAllowedForeign(view, origin) ? browserWithoutToken() : null;
}

function isAllowedForeign(view: View, origin: string | undefined): boolean {
  return origin !== undefined && view.allowedOrigins.includes(origin);
}

function ownOrigin(request: In): string {
  return `${request.scheme}://${request.host.toLowerCase()}`;
}

const CORS_HEADERS = [
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

/** On every answer of `/mcp`, errors too. */
export function corsFields(request: In): Field[] {
  const origin = request.header("origin");
  const fields: Field[] = [
    ["access-control-expose-headers", "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"],
    ["vary", "Origin"],
  ];
  return origin === undefined ? fields : [["access-control-allow-origin", origin], ...fields];
}

/** The answer to a preflight. Headers must be named one by one, so each `Mcp-Param-…` that was asked for is. */
export function preflightFields(request: In): Field[] {
  const asked = (request.header("access-control-request-headers") ?? "").split(",").map((name) => name.trim());
  const params = asked.filter((name) => /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i.test(name));
  return [
    ["access-control-allow-methods", "GET, POST, DELETE"],
    ["access-control-allow-headers", [...CORS_HEADERS, ...params].join(", ")],
    ["access-control-max-age", "86400"],
    ...corsFields(request),
  ];
}
