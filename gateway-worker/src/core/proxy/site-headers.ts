import type { Field } from "../seam.ts";
import { outward } from "./headers.ts";

/** Where a site is served: its own addresses, and the outer address that stands for them. */
export type SitePlace = {
  /** `https://gateway.example`, without a path. */
  readonly outerOrigin: string;
  /** `/website/shop`, with all that the caller's path has before it; empty on a host of its own. */
  readonly prefix: string;
  /** The path that was asked for, without `prefix` and query. */
  readonly path: string;
  readonly origins: readonly string[];
};

/** What a site may not say for a whole origin, which under a prefix isn't its own. */
const NOT_A_SITES = new Set(["clear-site-data", "strict-transport-security", "alt-svc"]);

/** The fields of a site's answer with its URLs and cookies put where the site is served (7-sites §2, L1). */
export function siteOutward(fields: readonly Field[], place: SitePlace): Field[] {
  return outward(fields)
    .filter(([name]) => place.prefix === "" || !NOT_A_SITES.has(name))
    .flatMap(([name, value]): Field[] => {
      const placed = siteValue(name, value, place);
      return placed === null ? [] : [[name, placed]];
    });
}

/** Null: the site may not say so. */
function siteValue(name: string, value: string, place: SitePlace): string | null {
  switch (name) {
    case "location":
    case "content-location":
    case "sourcemap":
    case "x-sourcemap":
      return placedUrl(value, place);
    case "refresh":
      return value.replace(/^(\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?)(["']?)([^"']*)(["']?)/i, (_all, start, open, url, close) => {
        return `${start}${open}${placedUrl(url, place)}${close}`;
      });
    case "link":
      // a URL holds no `<`: without it a row of them would be read from each anew
      return value.replace(/<([^<>]*)>/g, (_all, url: string) => `<${placedUrl(url, place)}>`);
    case "set-cookie":
      return placedCookie(value, place.prefix);
    case "service-worker-allowed":
      return place.prefix === "" ? value : narrowedScope(value, place);
    default:
      return value;
  }
}

/** A root-relative URL under the prefix, once; one of the site's own addresses as the outer address. Others stay. */
export function placedUrl(url: string, place: SitePlace): string {
  if (/^\/(?![/\\])/.test(url)) return underPrefix(url, place.prefix);
  if (!/^([a-z][a-z0-9+.-]*:)?[\\/]{2}/i.test(url)) return url;
  const absolute = URL.parse(url, "http://relative.invalid");
  if (absolute === null) return url;
  const own = place.origins.some((origin) => new URL(origin).host === absolute.host);
  if (own && /^https?:$/.test(absolute.protocol)) return place.outerOrigin + underPrefix(afterOrigin(absolute), place.prefix);
  return url;
}

function afterOrigin(url: URL): string {
  return url.href.slice(url.origin.length);
}

/** Dot segments count before the prefix does: behind it they would lead out of it again. */
function underPrefix(path: string, prefix: string): string {
  if (prefix === "") return path;
  const plain = withoutDots(path);
  return isUnder(plain, prefix) ? plain : prefix + plain;
}

function isUnder(path: string, prefix: string): boolean {
  const rest = path.startsWith(prefix) ? path[prefix.length] : null;
  return rest === undefined || (rest !== null && "/?#".includes(rest));
}

/** A root-relative URL with its dot segments resolved as a browser does it. One that has none keeps its bytes. */
function withoutDots(path: string): string {
  const read = path.replace(/[\t\r\n]/g, "");
  if (!/^[^?#]*[\\/](?:\.|%2e){1,2}(?:[\\/?#]|$)/i.test(read)) return path;
  const ascii = read.replace(/[\u0080-\u00ff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return afterOrigin(new URL(`http://site.invalid${ascii}`));
}

/** A cookie without `Domain`, its `Path` under the prefix. Without a `Path` the browser's default lies there already. */
function placedCookie(cookie: string, prefix: string): string {
  const [pair = "", ...attributes] = cookie.split(";");
  const kept = attributes
    .filter((attribute) => attributeName(attribute) !== "domain")
    .map((attribute) => (attributeName(attribute) === "path" ? placedPath(attribute, prefix) : attribute));
  return [pair, ...kept].join(";");
}

function attributeName(attribute: string): string {
  return (attribute.split("=")[0] ?? "").trim().toLowerCase();
}

function placedPath(attribute: string, prefix: string): string {
  const path = attribute.slice(attribute.indexOf("=") + 1).trim();
  if (prefix === "" || !attribute.includes("=") || !path.startsWith("/")) return attribute;
  return ` Path=${underPrefix(path, prefix)}`;
}

/**
 * How far a service worker may reach, as a browser reads it: against the script's own URL, and as the beginning of paths, so
 * that it ends with the prefix's slash. Null for another origin, and for the outer address where it isn't the site's.
 */
function narrowedScope(scope: string, place: SitePlace): string | null {
  const { prefix, outerOrigin, origins } = place;
  const base = `http://site.invalid`;
  const asked = URL.parse(scope, base + place.path);
  if (asked === null) return null;
  const isOwn = asked.origin === base || origins.includes(asked.origin);
  const isOuter = asked.origin === outerOrigin && asked.pathname.startsWith(`${prefix}/`);
  if (!isOwn && !isOuter) return null;
  const path = underPrefix(asked.pathname, prefix);
  return path === prefix ? `${path}/` : path;
}
