import type { SiteFindingKind } from "@agent-env/protocol";
import { type Found, LAYER_OF } from "./findings.ts";
import { failureText, type HostView, hasFailed } from "./host-view.ts";
import { placeOf, prefixOf, reached, type SiteAddress } from "./site-address.ts";
import type { PageRecord, Sent } from "./walk-record.ts";

const HTML = "text/html";
/** Where nothing is found a server may answer with a page; these are none. */
const NEVER_PAGES = new Set(["script", "stylesheet", "image", "font", "media", "manifest", "fetch", "xhr", "texttrack"]);

/** What is wrong with the requests of one page under a prefix. */
export function requestFindings(page: PageRecord, address: SiteAddress, host: HostView): Found[] {
  return page.sent.flatMap((sent): Found[] => {
    const where = reached(sent.url, address);
    if (where.is === "elsewhere" || isFavicon(sent, where.path)) return [];
    const common = { mode: address.mode, page: page.path, at: placeOf(sent.at, address) } as const;
    if (where.is === "root") return [{ ...common, ...escaped(sent, where.path, address), layer: LAYER_OF[sent.by] }];
    const wrong = isDoubled(where.path, address) ? doubled(where.path, address) : compared(sent, where.path, host);
    return wrong === null ? [] : [{ ...common, ...wrong }];
  });
}

type Wrong = Pick<Found, "kind" | "text" | "layer">;

function escaped(sent: Sent, path: string, address: SiteAddress): Pick<Found, "kind" | "text"> {
  const back = sent.redirectTo !== null && reached(sent.redirectTo, address).is === "site";
  const then = back ? "the gateway sent it back by its Referer" : `${failureText(sent)} at the gateway's root`;
  if (sent.isPage) return { kind: "lost-navigation", text: `a navigation to ${path} left the prefix: ${then}` };
  const kind: SiteFindingKind = sent.type === "eventsource" ? "event-source" : "escape";
  return { kind, text: `${nameOf(sent)} ${path} left the prefix: ${then}` };
}

function doubled(path: string, address: SiteAddress): Wrong {
  return { kind: "doubled-prefix", text: `${prefixOf(address)}${path} has the prefix twice`, layer: "L2" };
}

/** A request that stayed under the prefix, and is answered otherwise than in host mode. */
function compared(sent: Sent, path: string, host: HostView): Wrong | null {
  // What becomes of a page is told by itself.
  if (!host.isKnown || sent.isPage) return null;
  const there = host.answers(sent.method, path);
  const layer = LAYER_OF[sent.by];
  if (hasFailed(sent) && there?.failed !== true) {
    const kind = sent.type === "eventsource" ? "event-source" : "failed-load";
    return { kind, text: `${nameOf(sent)} ${path}: ${failureText(sent)}, and only under the prefix`, layer };
  }
  const isPageInstead = sent.mime === HTML && NEVER_PAGES.has(sent.type) && !hasFailed(sent) && there?.mimes.has(HTML) !== true;
  if (!isPageInstead) return null;
  const instead = there === undefined ? "" : `, and in host mode ${[...there.mimes].join(", ")}`;
  return { kind: "wrong-asset", text: `${nameOf(sent)} ${path} was answered with ${HTML}${instead}`, layer };
}

/** A site that adds the prefix by itself may mean all of it, or what is its own in it. */
function isDoubled(path: string, address: SiteAddress): boolean {
  const prefix = prefixOf(address);
  const own = /\/website\/[^/]+$/.exec(prefix)?.[0] ?? prefix;
  return prefix !== "" && [prefix, own].some((twice) => path === twice || path.startsWith(`${twice}/`));
}

/** The browser asks for it by itself, at the root of whatever host. */
function isFavicon({ by }: Sent, path: string): boolean {
  return by === "browser" && path === "/favicon.ico";
}

/** How a request is told. */
export function nameOf({ type, method }: Sent): string {
  const name =
    { document: "frame", stylesheet: "style sheet", xhr: "XMLHttpRequest", eventsource: "event stream", other: "request" }[type] ?? type;
  return method === "GET" ? name : `${name} ${method}`;
}
