import { placedAttribute, placedRefresh } from "./attributes.ts";
import { placedCss } from "./css.ts";
import { type Attribute, HtmlTags, type Tag } from "./html-tags.ts";
import { placedImportMap } from "./import-map.ts";
import { latin1Bytes, latin1Text } from "./latin1.ts";
import { PageScripts } from "./page-scripts.ts";
import type { SitePlace } from "./place.ts";
import type { InlineScripts } from "./policy.ts";

/** Above this the rest of a page passes as it is. */
const MAX_MATCHES = 5_000;
/** What is held back at most: of a tag whose end hasn't come, of a style sheet or import map. */
const MAX_HELD_TAG = 65_536;
const MAX_HELD_TEXT = 524_288;
/** A `<` that is longer than this without a `>` starts no tag whose name matters. */
const MAX_TAG_NAME = 256;

/** What a page was that can't be rewritten whole. */
export type PageFinding = "unreadable" | "long" | "policy";

type Text = { readonly is: "style" | "import map"; readonly from: number };

/**
 * Puts the URLs of an HTML page under a prefix while it streams through (7-sites §2, L3): values are replaced where they
 * stand, everything else is copied byte for byte.
 */
export class HtmlRewriter {
  readonly #place: SitePlace;
  readonly #found: (finding: PageFinding) => void;
  readonly #tags: HtmlTags;
  readonly #scripts: PageScripts;
  /** What is held of the page, as Latin-1, and where in the page it starts. Up to `#copied` it is in `#out`. */
  #held = "";
  #start = 0;
  #copied = 0;
  #out = "";
  #matches = 0;
  #inside: Text | null = null;
  #isBegun = false;
  /** The rest passes as it is. */
  #passes = false;

  constructor(place: SitePlace, options: { readonly policy: InlineScripts; readonly found: (finding: PageFinding) => void }) {
    this.#place = place;
    this.#found = options.found;
    this.#scripts = new PageScripts(place, options.policy);
    this.#tags = new HtmlTags({
      text: (from, to) => this.#text(from, to),
      opened: (tag, end) => this.#opened(tag, end),
      closed: (name, start) => this.#closed(name, start),
      doctype: () => this.#scripts.isDocument(),
    });
  }

  /** What can be sent on of a page when its next bytes are there. */
  write(bytes: Uint8Array): Uint8Array {
    if (this.#passes && this.#held === "") return bytes;
    const text = latin1Text(bytes);
    this.#held += text;
    this.#begin();
    if (!this.#passes) this.#tags.write(text);
    this.#copyTo(this.#passes ? this.#end : this.#heldFrom());
    return this.#taken();
  }

  /** What is left at the page's end. */
  end(): Uint8Array {
    this.#copyTo(this.#end);
    return this.#taken();
  }

  /** JSON that calls itself HTML, and what has more than a byte a character, is none that is read here. */
  #begin(): void {
    if (this.#isBegun) return;
    const first = /^(?:\u00ef\u00bb\u00bf)?\s*([^\s])/.exec(this.#held)?.[1];
    if (first === undefined) return;
    this.#isBegun = true;
    const isWide = /^(\u00fe\u00ff|\u00ff\u00fe|.?\0)/s.test(this.#held);
    this.#passes = isWide || '{["'.includes(first);
    if (isWide) this.#found("unreadable");
  }

  #opened(tag: Tag, end: number): void {
    const attribute = (name: string): string => this.#valueOf(tag.attributes.find((one) => one.name === name));
    const before = this.#scripts.before(tag, attribute);
    if (before === null) this.#found("policy");
    else if (before !== "" && tag.start >= this.#copied) this.#insert(tag.start, before);
    const isRefresh = tag.name === "meta" && attribute("http-equiv").toLowerCase() === "refresh";
    for (const one of tag.attributes) this.#placed(tag, one, isRefresh);
    if (tag.name === "style") this.#inside = { is: "style", from: end };
    else if (tag.name === "script" && attribute("type").trim().toLowerCase() === "importmap")
      this.#inside = { is: "import map", from: end };
  }

  #placed(tag: Tag, attribute: Attribute, isRefresh: boolean): void {
    if (attribute.from < this.#copied) return;
    const value = this.#valueOf(attribute);
    const isContent = isRefresh && attribute.name === "content";
    const placed = isContent ? placedRefresh(value, this.#place) : placedAttribute(tag.name, attribute.name, value, this.#place);
    if (placed !== null && placed !== value) this.#replace(attribute.from, attribute.to, placed);
  }

  #closed(name: string, start: number): void {
    const inside = this.#inside;
    this.#inside = null;
    if (inside !== null && inside.from >= this.#copied) this.#placedText(inside, start);
    const before = this.#scripts.beforeEnd(name);
    if (before === null) this.#found("policy");
    else if (before !== "" && start >= this.#copied) this.#insert(start, before);
  }

  #placedText({ is, from }: Text, to: number): void {
    const text = this.#text(from, to);
    let matches = 0;
    const placed = is === "style" ? placedCss(text, this.#place, () => matches++) : placedImportMap(text, this.#place);
    if (placed === null || placed === text) return;
    this.#matches += matches;
    this.#replace(from, to, placed);
  }

  #valueOf(attribute: Attribute | undefined): string {
    return attribute === undefined ? "" : this.#text(attribute.from, attribute.to);
  }

  #replace(from: number, to: number, text: string): void {
    if (this.#passes) return;
    this.#matches++;
    if (this.#matches > MAX_MATCHES) {
      this.#passes = true;
      this.#found("long");
      return;
    }
    this.#insert(from, text);
    this.#copied = to;
  }

  #insert(at: number, text: string): void {
    this.#copyTo(at);
    this.#out += text;
  }

  /** From where the page is held back: what a later byte may still change. */
  #heldFrom(): number {
    const tag = this.#tags.open;
    const limit = this.#inside === null ? MAX_HELD_TAG : MAX_HELD_TEXT;
    const from = tag?.start ?? this.#inside?.from ?? this.#nameFrom();
    if (this.#end - from <= limit) return Math.max(from, this.#copied);
    if (this.#inside !== null) this.#found("long");
    this.#inside = null;
    for (const one of tag?.attributes ?? []) if (tag !== null) this.#placed(tag, one, false);
    return this.#end;
  }

  /** Where a tag may begin whose name isn't there yet: at the first `<` that could, as later ones may be of the name. */
  #nameFrom(): number {
    const searched = Math.max(this.#held.lastIndexOf(">") + 1, this.#held.length - MAX_TAG_NAME);
    const at = this.#held.slice(searched).search(/<(?:$|[a-z/!])/i);
    return at < 0 ? this.#end : this.#start + searched + at;
  }

  get #end(): number {
    return this.#start + this.#held.length;
  }

  #text(from: number, to: number): string {
    return from < this.#start ? "" : this.#held.slice(from - this.#start, to - this.#start);
  }

  #copyTo(position: number): void {
    if (position <= this.#copied) return;
    this.#out += this.#text(this.#copied, position);
    this.#copied = position;
  }

  #taken(): Uint8Array {
    const bytes = latin1Bytes(this.#out);
    this.#out = "";
    this.#held = this.#text(this.#copied, this.#end);
    this.#start = this.#copied;
    return bytes;
  }
}
