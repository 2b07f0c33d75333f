import { withoutEnd } from "@agent-env/protocol";
import { ROUTE_SCOPES } from "../../auth/route-scopes.ts";
import type { In } from "../../seam.ts";
import { isUnder } from "./place.ts";

const METHODS = ["GET", "HEAD", "POST"];
const DEPLOYMENTS_PAGE = /^(\/d\/([a-z0-9-]+))?(\/website\/([^/?#]+))\//;

/** The page that a request came from, if it is a site's of the same origin under a prefix. */
export type StrayFrom = { readonly deployment: string | null; readonly base: string; readonly prefix: string; readonly site: string };

/**
 * Whose a request is that left a site's prefix: only its `Referer` tells (7-sites §2, L5). Null for one that didn't, and for
 * whatever could be a route of the gateway's.
 */
export function strayFrom(request: { method: string; origin: string; path: string; referer: string | undefined }): StrayFrom | null {
  const { method, origin, path, referer } = request;
  if (!METHODS.includes(method) || referer === undefined || isGatewayPath(path)) return null;
  const page = URL.parse(referer);
  if (page?.origin !== origin) return null;
  const [, base = "", deployment = null, local, site] = DEPLOYMENTS_PAGE.exec(page.pathname) ?? [];
  return local === undefined || site === undefined ? null : { deployment, base, prefix: base + local, site };
}

/** The same of a request as the core has it. */
export function strayRequest(request: In): StrayFrom | null {
  const { method, scheme, host, path } = request;
  const from = strayFrom({ method, origin: `${scheme}://${host}`, path: path ?? "", referer: request.header("referer") });
  return from?.base === request.pageBase ? from : null;
}

function isGatewayPath(path: string): boolean {
  const plain = withoutEnd(path.split("?")[0] ?? "", (char) => char === "/");
  return ROUTE_SCOPES.has(plain) || ["/svc", "/website", "/d", "/v2", "/cdn-cgi"].some((route) => isUnder(plain.toLowerCase(), route));
}
