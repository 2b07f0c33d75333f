import type { Field, In, UpResponse } from "../../seam.ts";
import { shownEtag, siteEtags } from "./etags.ts";
import { ALLOWED, both, type InlineScripts, inlineScripts } from "./policy.ts";

/** Content codings that both hosts read. */
const READABLE = ["gzip", "x-gzip", "deflate", "br", "identity"];
/** What is true of the bytes as the site sent them only. */
const OF_THE_BYTES = new Set([
  "content-length",
  "content-encoding",
  "accept-ranges",
  "content-md5",
  "digest",
  "content-digest",
  "repr-digest",
]);
/** Encodings in which a byte below 0x80 may be something else than ASCII. */
const NOT_ASCII = /^(utf-?16|utf-?32|ucs-|iso-?10646|utf-?7|csunicode|unicode|hz-gb|iso-?2022)/i;
const WITHOUT_PAGE = new Set([204, 205, 206, 304]);

/** What a site is asked for so that its pages can be rewritten: codings that can be read, no part of a page, the tags it gave. */
export function askedForPages(fields: readonly Field[], request: In): Field[] {
  const isPage = asksForPage(request);
  return fields.flatMap(([name, value]): Field[] => {
    if (name === "accept-encoding") return [[name, readable(value)]];
    if (name === "if-none-match" || name === "if-match") return [[name, siteEtags(value)]];
    return isPage && (name === "range" || name === "if-range") ? [] : [[name, value]];
  });
}

/** Whether an answer's body is HTML that can be rewritten; `unreadable`: it is, but not in an encoding that is read here. */
export function pageIn(response: UpResponse): "page" | "unreadable" | null {
  const type = response.header("content-type") ?? "";
  if (WITHOUT_PAGE.has(response.status) || !/^\s*text\/html\s*(;|$)/i.test(type)) return null;
  if (/^\s*attachment\b/i.test(response.header("content-disposition") ?? "")) return null;
  const charset = /;\s*charset\s*=\s*"?\s*([^\s";]+)/i.exec(type)?.[1] ?? "";
  return NOT_ASCII.test(charset) || !response.isReadable ? "unreadable" : "page";
}

/** The fields of a page that is rewritten. */
export function pageFields(fields: readonly Field[]): Field[] {
  return fields.flatMap(([name, value]): Field[] => {
    if (OF_THE_BYTES.has(name)) return [];
    return [[name, name === "etag" ? shownEtag(value) : value]];
  });
}

/** The tag of an answer that says that nothing changed, as the page had it. */
export function unchangedFields(fields: readonly Field[], request: In): Field[] {
  const known = request.header("if-none-match") ?? "";
  return fields.map(([name, value]): Field => [name, name === "etag" && known.includes(shownEtag(value)) ? shownEtag(value) : value]);
}

/** What an answer's policies say of scripts. One that only reports forbids nothing. */
export function policyIn(fields: readonly Field[]): InlineScripts {
  return fields
    .filter(([name]) => name === "content-security-policy")
    .map(([, value]) => inlineScripts(value))
    .reduce(both, ALLOWED);
}

function asksForPage(request: In): boolean {
  const dest = request.header("sec-fetch-dest");
  if (dest !== undefined) return ["document", "iframe", "frame"].includes(dest);
  return (request.header("accept") ?? "").includes("text/html");
}

function readable(codings: string): string {
  const kept = codings.split(",").filter((coding) => READABLE.includes((coding.split(";")[0] ?? "").trim().toLowerCase()));
  return kept.length === 0 ? "identity" : kept.join(",").trim();
}
