import { type DeploymentRecord, foreignOrigin, type GatewayError } from "@agent-env/protocol";
import type { In } from "../seam.ts";
import type { HostRules, View } from "../view.ts";

/** The host name of a `Host` value, in lower case, without port and brackets. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d*$/, "")).toLowerCase();
}

/** Whether a record says that every `Host` is answered: only where each caller shows a token (5-run §6). */
export function servesAnyHost({ auth, hosts }: Pick<DeploymentRecord, "auth" | "hosts">): boolean {
  return auth.mode === "token" && hosts.includes("*");
}

/** Whether a `Host` may be answered at all: anything else could be DNS rebinding (6-mcp §12). */
export function isServedHost(rules: HostRules, host: string): boolean {
  if (rules.any) return true;
  const name = hostName(host);
  return isLoopback(name) || rules.names.includes(name) || rules.suffixes.some((suffix) => name.endsWith(`.${suffix}`));
}

/** Whether a host name or address is this machine's own. */
export function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/** What another origin's page may not do: null for programs, for this address's own pages, and for allowed origins (6-mcp §12). */
export function originProblem(view: View, request: In): GatewayError | null {
  const origin = request.header("origin");
  return origin === undefined || origin === ownOrigin(request) || isAllowed(view, origin) ? null : foreignOrigin();
}

/**
 * Whether a request may come from a site's page: it is a browser's, and sites are served under a prefix of the very origin that
 * it asks. Then only a token tells it from the viewer's own.
 */
export function mayBePages(view: View, request: In): boolean {
  const origin = request.header("origin");
  const fromBrowser = origin !== undefined || request.header("sec-fetch-site") !== undefined;
  return fromBrowser && (view.sites.size > 0 || request.sharesOrigin) && !(origin !== undefined && isAllowed(view, origin));
}

/** Hosts of sites are never allowed, whoever lists them: what a page may do is not its viewer's to widen. */
export function isAllowed(view: View, origin: string): boolean {
  return view.allowedOrigins.includes(origin) && !view.labels.has(hostName(URL.parse(origin)?.host ?? "").split(".")[0] ?? "");
}

/** Where a request that a page makes can only be of the same site, or somebody's that opens it: a cookie counts for no other. */
export function isOwnPages(request: In): boolean {
  const origin = request.header("origin");
  if (origin !== undefined && origin !== ownOrigin(request)) return false;
  const site = request.header("sec-fetch-site");
  const opens = request.method === "GET" && request.header("sec-fetch-mode") === "navigate";
  return site === undefined || site === "same-origin" || site === "none" || opens;
}

function ownOrigin(request: In): string {
  return `${request.scheme}://${request.host.toLowerCase()}`;
}
