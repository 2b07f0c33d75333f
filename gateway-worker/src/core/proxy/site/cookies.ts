import { type SitePlace, underPrefix } from "./place.ts";

/**
 * Names that a browser takes only with `Path=/` or `Secure` (RFC 6265bis §4.1.3). Under a prefix the path can't be `/`, so there
 * such a cookie has a name of ours; only cookies with that one are the site's.
 */
const STRICT = /^__(host|secure)-/i;
const RENAMED = /^agentenv-(?=__(host|secure)-)/i;
const OURS = "agentenv-";

/** A `Set-Cookie` without `Domain`, its `Path` under the prefix. Without a `Path` the browser's default lies there already. */
export function placedCookie(cookie: string, place: SitePlace): string {
  const [pair = "", ...attributes] = cookie.split(";");
  const kept = attributes
    .filter((attribute) => attributeName(attribute) !== "domain")
    .map((attribute) => (attributeName(attribute) === "path" ? placedPath(attribute, place.prefix) : attribute));
  const renamed = place.prefix !== "" && STRICT.test(pair.trim()) ? OURS + pair.trim() : pair;
  const placed = [renamed, ...kept];
  return (losesSecure(cookie, place) ? withoutSecure(placed) : placed).join(";");
}

/**
 * Whether a cookie's `Secure` is taken away: on plain http not every browser keeps such a cookie, and on loopback nothing is
 * lost by it. A name that demands `Secure` keeps it.
 */
export function losesSecure(cookie: string, { outerOrigin, prefix }: SitePlace): boolean {
  const [pair = "", ...attributes] = cookie.split(";");
  const isDemanded = prefix === "" && STRICT.test(pair.trim());
  return !isDemanded && isPlainLoopback(outerOrigin) && attributes.some((attribute) => attributeName(attribute) === "secure");
}

/** The cookies of a request as the site set them. Under a prefix a name that a browser guards is another's: the root's. */
export function siteCookies(cookies: string, prefix: string): string {
  if (prefix === "") return cookies;
  const pairs = cookies.split(";").map((pair) => pair.trim());
  return pairs
    .filter((pair) => !STRICT.test(pair))
    .map((pair) => pair.replace(RENAMED, ""))
    .join("; ");
}

function withoutSecure(parts: readonly string[]): string[] {
  return parts
    .filter((part, at) => at === 0 || attributeName(part) !== "secure")
    .map((part, at) => (at > 0 && /^\s*samesite\s*=\s*none\s*$/i.test(part) ? " SameSite=Lax" : part));
}

function isPlainLoopback(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && (/(^|\.)localhost$/.test(hostname) || /^127\./.test(hostname) || hostname === "[::1]");
}

function attributeName(attribute: string): string {
  return (attribute.split("=")[0] ?? "").trim().toLowerCase();
}

function placedPath(attribute: string, prefix: string): string {
  const path = attribute.slice(attribute.indexOf("=") + 1).trim();
  if (prefix === "" || !attribute.includes("=") || !path.startsWith("/")) return attribute;
  return ` Path=${underPrefix(path, prefix)}`;
}
