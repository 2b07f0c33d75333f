import { PAGE_PARAM } from "@agent-env/protocol";
import type { Need } from "../route.ts";
import type { Field, In } from "../seam.ts";
import { PAGE_COOKIE } from "./credentials.ts";

/** Where a request's page token is, and the path that is left without it. Null: it has none. */
export function pageLinkOf(request: In): { readonly token: string; readonly path: string } | null {
  const whole = request.path ?? "";
  const query = whole.indexOf("?");
  if (query < 0) return null;
  const parts = whole.slice(query + 1).split("&");
  const named = (part: string): string | undefined => [...new URLSearchParams(part)].find(([name]) => name === PAGE_PARAM)?.[1];
  const token = parts.map(named).find((value) => value !== undefined);
  if (token === undefined) return null;
  const rest = parts.filter((part) => named(part) === undefined).join("&");
  return { token, path: whole.slice(0, query) + (rest === "" ? "" : `?${rest}`) };
}

/** The name of a deployment's cookie: on a site's own host, and under a prefix, where hosts and ports share their cookies. */
export function pageCookieName(deployment: string, page: Need["page"]): string {
  return `${PAGE_COOKIE}${page === "host" ? "" : "s"}.${deployment}`;
}

/** The answer to a page token: the page again, without it, and a cookie that opens it (2-architecture, callers and tokens). */
export function seeOther(request: In, page: Need["page"], cookie: { path: string; name: string; value: string; seconds: number }): Field[] {
  const outer = page === "host" ? "/" : `${request.base}/website/`;
  const secure = request.scheme === "https" ? "; Secure" : "";
  // `//x` would be a host
  const location = cookie.path.startsWith("//") && request.base === "" ? `/.${cookie.path}` : request.base + cookie.path;
  return [
    ["location", location],
    ["set-cookie", `${cookie.name}=${cookie.value}; Path=${outer}; Max-Age=${cookie.seconds}; HttpOnly; SameSite=Strict${secure}`],
    ["cache-control", "no-store"],
    ["referrer-policy", "no-referrer"],
    ["content-length", "0"],
  ];
}
