import { isJsonObject, jsonOf, PAGE_TOKEN_TYPE, TOKEN_TYPE } from "@agent-env/protocol";
import { allValues } from "../fields.ts";
import type { Field, In } from "../seam.ts";

/** What the names of the gateway's cookies begin with: no site sees or sets one. */
export const PAGE_COOKIE = "agentenv_page";

const BEARER = /^bearer[ \t]+(\S+)$/i;

/** The bearer tokens of a request. Repeated fields may come joined by commas. */
export function bearersOf(request: In): string[] {
  return allValues(request.headers(), "authorization").flatMap((value) => partsOf(value).flatMap(bearerIn));
}

/** Whether a text says that it is a token of an agent-env gateway, good or bad. Only then is it ours to take out. */
export function isOurToken(text: string): boolean {
  const [header, , signature] = text.split(".");
  if (header === undefined || signature === undefined) return false;
  if (header !== lastHead.text) lastHead = { text: header, isOurs: namesOurType(header) };
  return lastHead.isOurs;
}

/** The head of a token that was read last: those of one key are all alike. */
let lastHead = { text: "", isOurs: false };

function namesOurType(header: string): boolean {
  if (!/^[\w-]+$/.test(header) || header.length % 4 === 1) return false;
  const read = jsonOf(atob(header.replaceAll("-", "+").replaceAll("_", "/")));
  return isJsonObject(read) && (read["typ"] === TOKEN_TYPE || read["typ"] === PAGE_TOKEN_TYPE);
}

/** The fields of a request without the gateway's own credentials; a site's own stay as they are. */
export function withoutCredentials(fields: readonly Field[]): Field[] {
  return fields.flatMap((field): Field[] => {
    const [name, value] = field;
    if (name !== "authorization" && name !== "cookie") return [field];
    const kept = name === "authorization" ? withoutTokens(value) : withoutPageCookies(value);
    return kept === "" && value !== "" ? [] : [[name, kept]];
  });
}

/** Every value that a request's cookies have under a name: one set for a longer path comes first, and may be anybody's. */
export function cookiesOf(request: In, name: string): string[] {
  return allValues(request.headers(), "cookie")
    .flatMap((value) => value.split(/[;,]/))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** Whether an answer's `Set-Cookie` would set one of the gateway's cookies, or be sent back as if it were one. */
export function setsPageCookie(value: string): boolean {
  // a cookie without a name is sent back as its value alone
  return value.replace(/^[\s=]+/, "").startsWith(PAGE_COOKIE);
}

function bearerIn(part: string): string[] {
  const token = BEARER.exec(part.trim())?.[1];
  return token === undefined ? [] : [token];
}

function partsOf(value: string): string[] {
  return value.split(",");
}

function withoutTokens(value: string): string {
  const parts = partsOf(value);
  // under another scheme too: it is sent by mistake, and would be given away
  const kept = parts.filter((part) => !part.split(/\s+/).some(isOurToken));
  return kept.length === parts.length ? value : kept.join(",").trim();
}

function withoutPageCookies(value: string): string {
  const pieces = value.split(/(?<=[;,])/);
  const kept = pieces.filter((piece) => !piece.trimStart().startsWith(PAGE_COOKIE));
  return kept.length === pieces.length
    ? value
    : kept
        .join("")
        .replace(/[;,]\s*$/, "")
        .trim();
}
