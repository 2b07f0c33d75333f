import {
  badTarget,
  foreignHost,
  type GatewayError,
  headersTooLarge,
  notFound,
  notReady,
  reach,
  roleTooLong,
  tooManyHops,
  unknownService,
  unroutable,
  unsafePath,
  uriTooLong,
  withoutEnd,
} from "@agent-env/protocol";
import { namedRolesOf } from "./auth/caller.ts";
import { isServedHost, originProblem } from "./auth/origin.ts";
import { ROUTE_SCOPES, type RouteScope } from "./auth/route-scopes.ts";
import { allValues } from "./fields.ts";
import { siteOfHost } from "./proxy/site/hosts.ts";
import { strayRequest } from "./proxy/site/stray.ts";
import type { In } from "./seam.ts";
import type { View } from "./view.ts";

export const HOPS_FIELD = "agentenv-hops";
const MAX_ROLE_LENGTH = 256;

/** What a caller needs for a route; `page`: a site's, on a host of its own or under a prefix, which a browser may open by a link. */
export type Need = { readonly scope: RouteScope; readonly page: "host" | "prefix" | null };

/** Where a request goes, and what its caller needs. Paths begin with `/`, hold the query, and are forwarded as they are. */
export type Route = Destination & { readonly need: Need };
export type Destination =
  | { readonly to: "refused"; readonly error: GatewayError }
  /** `stray`: the site that a request is sent back to, having left its prefix. */
  | { readonly to: "redirect"; readonly location: string; readonly stray?: string }
  | { readonly to: "mcp" }
  | { readonly to: "app" }
  | { readonly to: "service"; readonly key: string; readonly path: string; readonly guarded: boolean }
  | { readonly to: "site"; readonly site: string; readonly path: string; readonly prefix: string };

/** Where a request goes, or why it goes nowhere. The first rule that fails answers (6-mcp §3, 3-wire §site). */
export function route(view: View, request: In): Route {
  const { path } = request;
  if (path === null) return refused(badTarget());
  if (request.door !== "browser" && !isServedHost(view.hosts, request.host)) return refused(foreignHost());
  if (request.base.length + path.length > view.maxUrlBytes) return refused(uriTooLong(view.maxUrlBytes));
  if (headerBytes(request) > view.maxHeaderBytes) return refused(headersTooLarge(view.maxHeaderBytes));
  if (namedRolesOf(request).some((role) => role.length > MAX_ROLE_LENGTH)) return refused(roleTooLong(MAX_ROLE_LENGTH));
  if (hopsOf(request) >= view.maxHops) return refused(tooManyHops(view.maxHops));

  const host = siteOfHost(view, request);
  if (host === "unknown") return refused(request.door === "browser" ? foreignHost() : notFound());
  if (host !== null) return { ...toSite(view, { ...host, path, prefix: "" }), need: request.door === "browser" ? NOTHING : SITE_HOST };
  const fixed = withoutEnd(pathOf(path), (char) => char === "/");
  if (request.pageBase !== request.base) return toStray(view, request, path) ?? refused(notFound());
  if (view.notReady !== null && ROUTE_SCOPES.get(fixed) !== "none") return refused(notReady(view.notReady));
  if (/^\/(svc|website)%2f/i.test(path)) return refused(unroutable(path));
  const named = /^\/(svc|website)\/([^/?]+)(.*)$/s.exec(path);
  if (named?.[1] === "website")
    return { ...toPrefixedSite(view, request, named[2] ?? "", named[3] ?? ""), need: { scope: "sites", page: "prefix" } };

  const problem = ROUTE_SCOPES.get(fixed) === "none" ? null : originProblem(view, request);
  if (problem !== null && fixed !== "/mcp") return refused(problem);
  if (named !== null) return toService(view, path, named[2] ?? "", named[3] ?? "");
  const scope = ROUTE_SCOPES.get(fixed);
  // what isn't in the table never reaches the app, which knows more spellings of a path
  if (scope === undefined) return toStray(view, request, path) ?? refused(notFound());
  return { to: fixed === "/mcp" ? "mcp" : "app", need: { scope, page: null } };
}

const NOTHING: Need = { scope: "none", page: null };
const SITE_HOST: Need = { scope: "sites", page: "host" };

function refused(error: GatewayError, need: Need = NOTHING): Route {
  return { to: "refused", error, need };
}

function toService(view: View, whole: string, name: string, rest: string): Route {
  const key = decodedKey(name);
  if (key === null) return refused(unroutable(whole));
  const need: Need = { scope: `svc:${key}`, page: null };
  const service = view.services.get(key);
  if (service === undefined) return refused(unknownService(key), need);
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  if (service.guarded.length === 0) return { to: "service", key, path, guarded: false, need };
  const reached = reach(pathOf(path), service.guarded);
  return reached === "unsafe" ? refused(unsafePath(), need) : { to: "service", key, path, guarded: reached === "inside", need };
}

function toPrefixedSite(view: View, request: In, name: string, rest: string): Destination {
  const site = decodedKey(name);
  if (site === null) return refused(unroutable(request.path ?? ""));
  if (!view.sites.has(site)) return refused(unknownService(site));
  const prefix = `${request.base}/website/${name}`;
  if (!rest.startsWith("/")) return { to: "redirect", location: `${prefix}/${rest}` };
  return toSite(view, { site, path: rest, prefix });
}

/** Back under the prefix: what is asked for next then says by its own `Referer` where it belongs. */
function toStray(view: View, request: In, path: string): Route | null {
  const from = strayRequest(request);
  const site = from === null ? null : decodedKey(from.site);
  if (from === null || site === null) return null;
  const to = toSite(view, { site, path, prefix: from.prefix });
  return to.to === "site" ? { to: "redirect", location: from.prefix + path, stray: site, need: NOTHING } : { ...to, need: NOTHING };
}

function toSite(view: View, target: { site: string; path: string; prefix: string }): Destination {
  if (view.notReady !== null) return refused(notReady(view.notReady));
  const site = view.sites.get(target.site);
  if (site === undefined) return refused(unknownService(target.site));
  const reached = reach(pathOf(target.path), site.reserved);
  if (reached === "unsafe") return refused(unsafePath());
  return reached === "inside" ? refused(notFound()) : { to: "site", ...target };
}

/** A key decoded once; null where it then could be read as more than one segment. */
function decodedKey(name: string): string | null {
  try {
    const key = decodeURIComponent(name);
    return /[/\\%]/.test(key) ? null : key;
  } catch {
    return null;
  }
}

/** A path without its query. */
export function pathOf(path: string): string {
  const query = path.indexOf("?");
  return query < 0 ? path : path.slice(0, query);
}

/** How many gateways a request went through before this one: the most that any of its fields says. */
export function hopsOf(request: In): number {
  const said = allValues(request.headers(), HOPS_FIELD).flatMap((value) => value.split(",").map(Number));
  return Math.max(0, ...said.filter(Number.isInteger));
}

function headerBytes(request: In): number {
  let bytes = 0;
  for (const [name, value] of request.headers()) bytes += name.length + value.length + 4;
  return bytes;
}
