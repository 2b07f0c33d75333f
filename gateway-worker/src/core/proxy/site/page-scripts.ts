import type { Tag } from "./html-tags.ts";
import { prefixImports } from "./import-map.ts";
import type { SitePlace } from "./place.ts";
import { both, type InlineScripts, inlineScripts } from "./policy.ts";
import { shimSource } from "./shim.ts";

/** Elements of a head that run nothing, so that what follows the last of them is early enough. */
const SILENT = new Set(["html", "head", "meta", "title", "base", "link", "style", "noscript", "template"]);
/** A page that has one of these is one, and no fragment that a script puts into another. */
const OF_DOCUMENTS = new Set(["html", "head", "meta", "title", "base"]);

/**
 * Where in a page the shim goes (7-sites §2, L4): before the first thing that could run, when all that the page's head says of
 * its policy is known; and with it, before the first module, the import map that puts modules under the prefix.
 */
export class PageScripts {
  readonly #place: SitePlace;
  #policy: InlineScripts;
  #isDocument = false;
  #hasShim = false;
  #hasImports = false;

  constructor(place: SitePlace, policy: InlineScripts) {
    this.#place = place;
    this.#policy = policy;
  }

  /** The page has a doctype. */
  isDocument(): void {
    this.#isDocument = true;
  }

  /** What goes before a tag; null, once, where the page's policy forbids it. */
  before(tag: Tag, attribute: (name: string) => string): string | null {
    if (OF_DOCUMENTS.has(tag.name)) this.#isDocument = true;
    if (tag.name === "meta" && attribute("http-equiv").toLowerCase() === "content-security-policy")
      this.#policy = both(this.#policy, inlineScripts(attribute("content").replace(/&(?:#39|#x27|apos);/gi, "'")));
    if (!this.#isDocument) this.#hasShim = this.#hasImports = true;
    const type = tag.name === "script" ? attribute("type").trim().toLowerCase() : "";
    if (type === "importmap") this.#hasImports = true;
    const isModule = type === "module" || (tag.name === "link" && attribute("rel").toLowerCase().includes("modulepreload"));
    const runs = !SILENT.has(tag.name) || tag.attributes.some(({ name }) => name.startsWith("on"));
    if (!runs && !isModule) return "";
    return this.#inserted({ imports: isModule || tag.name !== "script" });
  }

  /** What goes before an end tag. */
  beforeEnd(name: string): string | null {
    return name === "head" && this.#isDocument ? this.#inserted({ imports: true }) : "";
  }

  #inserted({ imports }: { imports: boolean }): string | null {
    if (this.#policy.are === "forbidden") {
      const isFirst = !this.#hasShim;
      this.#hasShim = this.#hasImports = true;
      return isFirst ? null : "";
    }
    const nonce = this.#policy.nonce === null ? "" : ` nonce="${this.#policy.nonce}"`;
    const shim = this.#hasShim ? "" : `<script${nonce}>${shimSource(this.#place.prefix)}</script>`;
    this.#hasShim = true;
    if (!imports || this.#hasImports) return shim;
    this.#hasImports = true;
    return `${shim}<script type="importmap"${nonce}>${JSON.stringify({ imports: prefixImports(this.#place) })}</script>`;
  }
}
