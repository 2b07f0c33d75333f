import { placedUrl, type SitePlace } from "./place.ts";

const QUOTE = `"|'|&quot;|&#34;|&#39;|&apos;`;
/** `url(…)` with or without quotes, and `@import "…"`. In an attribute quotes may be character references. */
const URLS = new RegExp(`(\\burl\\(\\s*|@import\\s+)(?:(${QUOTE})((?:(?!\\2)[^\\n])*?)\\2|([^"'()\\s;&]+))`, "gi");

/** CSS with its URLs put where the site is served. `found` is called for each that was another one before. */
export function placedCss(css: string, place: SitePlace, found: () => void): string {
  return css.replace(
    URLS,
    (all: string, start: string, quote: string | undefined, quoted: string | undefined, bare: string | undefined) => {
      const isImport = start.startsWith("@");
      if (bare !== undefined && isImport) return all;
      const url = quoted ?? bare ?? "";
      const placed = placedUrl(url, place);
      if (placed === url) return all;
      found();
      return `${start}${quote ?? ""}${placed}${quote ?? ""}`;
    },
  );
}
