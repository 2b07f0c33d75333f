import type { Field } from "../../seam.ts";
import { outward } from "../headers.ts";
import { placedRefresh } from "./attributes.ts";
import { placedCookie } from "./cookies.ts";
import { placedUrl, type SitePlace, underPrefix } from "./place.ts";

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
      return placedRefresh(value, place);
    case "link":
      // a URL holds no `<`: without it a row of them would be read from each anew
      return value.replace(/<([^<>]*)>/g, (_all, url: string) => `<${placedUrl(url, place)}>`);
    case "set-cookie":
      return placedCookie(value, place);
    case "clear-site-data":
      return ownData(value);
    case "service-worker-allowed":
      return place.prefix === "" ? value : narrowedScope(value, place);
    default:
      return value;
  }
}

/** What a site on a host of its own may clear: cookies would be cleared of all hosts of the domain. Null for nothing. */
function ownData(value: string): string | null {
  const all = ['"cache"', '"storage"', '"executionContexts"', '"clientHints"'];
  const kinds = value.split(",").map((kind) => kind.trim());
  const own = kinds.includes('"*"') ? all : kinds.filter((kind) => kind !== '"cookies"');
  return own.length === 0 ? null : own.join(", ");
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
