import type { SiteMode, SitePlace } from "@agent-env/protocol";

/** Where a site is served in one mode. Everything below `base`, which ends with a slash, is its own. */
export type SiteAddress = { readonly mode: SiteMode; readonly base: string };

/**
 * What a URL is to a site: a path of its own (without fragment), a path at the root of its origin, which under a prefix is the
 * gateway's, or another place altogether. A WebSocket's URL counts as the page's that may open it.
 */
export type Reached = { readonly is: "site" | "root"; readonly path: string } | { readonly is: "elsewhere" };

/** Where a URL leads from a site. Other sites under the same prefix are elsewhere. */
export function reached(url: string, { base }: Pick<SiteAddress, "base">): Reached {
  const own = new URL(base);
  const asked = URL.parse(url.replace(/^ws/i, "http"));
  if (asked === null || asked.host !== own.host || !/^https?:$/.test(asked.protocol)) return { is: "elsewhere" };
  const path = asked.pathname + asked.search;
  if (asked.pathname === own.pathname.replace(/\/$/, "")) return { is: "site", path: `/${asked.search}` };
  if (path.startsWith(own.pathname)) return { is: "site", path: `/${path.slice(own.pathname.length)}` };
  const siblings = own.pathname.replace(/[^/]+\/$/, "");
  return siblings !== "/" && asked.pathname.startsWith(siblings) ? { is: "elsewhere" } : { is: "root", path };
}

/** A text of a page with the site's own address taken out of it, so that both modes show the same. */
export function withoutAddress(text: string, { base }: Pick<SiteAddress, "base">): string {
  const { origin, host, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, "");
  const plain = text.replaceAll(origin.replace(/^http/, "ws"), "").replaceAll(origin, "").replaceAll(host, "");
  return prefix === "" ? plain : plain.replaceAll(prefix, "");
}

/** The prefix without its last slash; empty in host mode. */
export function prefixOf({ base }: Pick<SiteAddress, "base">): string {
  return new URL(base).pathname.replace(/\/$/, "");
}

/** A place that the browser names by a URL, as the site's author knows it. */
export function placeOf(at: SitePlace | null, address: SiteAddress): SitePlace | null {
  if (at === null) return null;
  const where = reached(at.file, address);
  if (where.is === "elsewhere") return at;
  const file = (where.path.split("?")[0] ?? "").slice(1);
  return { ...at, file: file === "" ? "/" : file };
}
