import type { SiteFinding, SiteFindingKind, SiteMode } from "@agent-env/protocol";
import type { SentBy } from "./walk-record.ts";

/** One finding on one page. */
export type Found = Omit<SiteFinding, "pages" | "advice">;
export type Layer = NonNullable<SiteFinding["layer"]>;

const RELATIVE = 'write URLs relative to the page ("api/cart", not "/api/cart"), or put the request\'s X-Forwarded-Prefix before them';
const KEEP = "let the front end own the prefix: LABEL agent-env.site.prefix=keep in its image, and links made under X-Forwarded-Prefix";
const HOST = "or offer the site on a host of its own";

/** What the author can do about each. */
const ADVICE: Readonly<Record<SiteFindingKind, string>> = {
  escape: `${RELATIVE}; ${HOST}`,
  "wrong-asset": `${RELATIVE}, and answer 404 to what isn't there instead of a page`,
  "failed-load": `${RELATIVE}; ${HOST}`,
  "redirect-loop": `${KEEP}; or redirect to paths without the prefix`,
  "doubled-prefix": `put the prefix before a URL once: leave it to the gateway, or ${KEEP}`,
  "lost-navigation": `give location a relative URL ("cart", not "/cart"); ${HOST}`,
  "cookie-outside": `leave path out of a cookie that a script sets, or set it from the server; ${HOST}`,
  "cookie-lost": `set it without Domain, and with a Path of the site; ${HOST}`,
  "service-worker": `register it by a relative URL, with no scope above its own folder; ${HOST}`,
  socket: `make its address from document.baseURI or location, by a relative URL; ${HOST}`,
  "event-source": `${RELATIVE}; ${HOST}`,
  "console-error": `scripts under the prefix see it in location: ${KEEP}; ${HOST}`,
  "text-differs": `scripts that read location.pathname see the prefix there: take X-Forwarded-Prefix off, or ${KEEP}; ${HOST}`,
  missing: `a script that compares or makes addresses stops there under the prefix: ${KEEP}; ${HOST}`,
  "act-failed": `look at the page that it fails on; ${HOST}`,
  policy: `give the policy's script-src a nonce, which the shim then carries, or ${RELATIVE}`,
};
/** In host mode the gateway changes nothing: what fails there fails by itself. */
const OWN_ADVICE = "mend the site: in host mode the gateway passes its pages as they are";

/** Findings as a report has them: each once, with the first page that it was found on and their number. */
export function merged(found: readonly Found[]): SiteFinding[] {
  const byKey = new Map<string, { readonly found: Found; readonly pages: Set<string> }>();
  for (const one of found) {
    const key = JSON.stringify([one.kind, one.mode, one.text, one.at]);
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, { found: one, pages: new Set([one.page]) });
    else known.pages.add(one.page);
  }
  return [...byKey.values()].map(({ found: { kind, mode, page, text, at, layer }, pages }) => ({
    kind,
    mode,
    page,
    pages: pages.size,
    text,
    at,
    layer,
    advice: adviceFor(kind, mode),
  }));
}

/** The layer that puts what is made so under the prefix. Linked style sheets keep their bytes, so that only the last resort is left. */
export const LAYER_OF: Readonly<Record<SentBy, Layer>> = { markup: "L3", style: "L5", script: "L4", redirect: "L1", browser: "L3" };

function adviceFor(kind: SiteFindingKind, mode: SiteMode): string {
  return mode === "host" ? OWN_ADVICE : ADVICE[kind];
}
