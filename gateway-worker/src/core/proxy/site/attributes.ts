import { placedCss } from "./css.ts";
import { placedUrl, type SitePlace } from "./place.ts";
import { mappedSrcset } from "./srcset.ts";

/** Attributes that hold one URL, on any element. */
const URL_ATTRIBUTES = new Set([
  "href",
  "xlink:href",
  "src",
  "action",
  "formaction",
  "poster",
  "cite",
  "longdesc",
  "background",
  "manifest",
  "codebase",
  "classid",
]);

/** Written as references by some template engines; as themselves they mean the same in an attribute. */
const REFERENCES: Readonly<Record<string, string>> = {
  "#47": "/",
  "#x2f": "/",
  sol: "/",
  "#58": ":",
  "#x3a": ":",
  colon: ":",
  "#92": "\\",
  "#x5c": "\\",
  bsol: "\\",
};

/** An attribute's value, as it is written, put where the site is served; null where that changes nothing. */
export function placedAttribute(tag: string, name: string, value: string, place: SitePlace): string | null {
  const placed = placedValue(tag, name, value, place);
  return placed === value ? null : placed;
}

function placedValue(tag: string, name: string, value: string, place: SitePlace): string {
  if (URL_ATTRIBUTES.has(name) || (name === "data" && tag === "object")) return placedWritten(value, place);
  if (name === "srcset" || name === "imagesrcset") return mappedSrcset(value, (url) => placedWritten(url, place));
  if (name === "ping") return value.replace(/\S+/g, (url) => placedWritten(url, place));
  if (name === "style") return placedCss(value, place, () => undefined);
  return value;
}

/** The URL of a `<meta http-equiv="refresh">`, or of the header field. */
export function placedRefresh(value: string, place: SitePlace): string {
  return value.replace(/^(\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?)(["']?)([^"']*)(["']?)/i, (_all, start, open, url, close) => {
    return `${start}${open}${placedWritten(url, place)}${close}`;
  });
}

/** Longer ones are no addresses that are served. */
const MAX_URL_LENGTH = 8_192;

/** What surrounds a URL stays, and so does each of its bytes unless it is moved. */
function placedWritten(value: string, place: SitePlace): string {
  if (value.length > MAX_URL_LENGTH) return value;
  const start = value.search(/[^\0- ]/);
  if (start < 0) return value;
  const written = value.slice(start);
  const url = written.includes("&")
    ? written.replace(/&(#47|#x2f|sol|#58|#x3a|colon|#92|#x5c|bsol);/gi, (all, name: string) => REFERENCES[name.toLowerCase()] ?? all)
    : written;
  const placed = placedUrl(url, place);
  return placed === url ? value : value.slice(0, start) + placed;
}
