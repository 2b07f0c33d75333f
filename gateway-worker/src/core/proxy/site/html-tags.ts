import { Tokenizer } from "htmlparser2";

/** A value's place in the whole page. */
export type Attribute = { readonly name: string; readonly from: number; readonly to: number };
export type Tag = { readonly name: string; readonly start: number; readonly attributes: Attribute[] };

export type TagWatcher = {
  /** What is written between two positions; empty where that is no longer held. */
  text(from: number, to: number): string;
  opened(tag: Tag, end: number): void;
  closed(name: string, start: number): void;
  doctype(): void;
};

/** Names that a `<svg>` or `<math>` changes the meaning of, and those inside that change it back. */
const FOREIGN = new Set(["svg", "math"]);
const HTML_INSIDE = new Set(["foreignobject", "desc"]);

/** A tokenizer that says where tags and their attributes' values lie. What is between them needs no memory. */
export class HtmlTags {
  readonly #tokenizer: Tokenizer;
  readonly #foreign: string[] = [];
  #tag: Tag | null = null;
  #attribute: { name: string; from: number; to: number } | null = null;

  constructor(watcher: TagWatcher) {
    const opened = (end: number, closesItself: boolean): void => {
      const tag = this.#tag;
      this.#tag = null;
      if (tag === null) return;
      if (!closesItself && (FOREIGN.has(tag.name) || (HTML_INSIDE.has(tag.name) && this.#isForeign))) this.#foreign.push(tag.name);
      watcher.opened(tag, end + 1);
    };
    const nothing = (): void => undefined;
    this.#tokenizer = new Tokenizer(
      { decodeEntities: false },
      {
        onopentagname: (start, end) => {
          this.#tag = { name: watcher.text(start, end).toLowerCase(), start: start - 1, attributes: [] };
        },
        onattribname: (start, end) => {
          this.#attribute = { name: watcher.text(start, end).toLowerCase(), from: -1, to: -1 };
        },
        onattribdata: (start, end) => {
          if (this.#attribute === null) return;
          if (this.#attribute.from < 0) this.#attribute.from = start;
          this.#attribute.to = end;
        },
        onattribend: () => {
          if (this.#attribute !== null && this.#attribute.from >= 0) this.#tag?.attributes.push(this.#attribute);
          this.#attribute = null;
        },
        onopentagend: (end) => opened(end, false),
        onselfclosingtag: (end) => opened(end, this.#isForeign),
        onclosetag: (start, end) => {
          const name = watcher.text(start, end).toLowerCase();
          const at = this.#foreign.lastIndexOf(name);
          if (at >= 0) this.#foreign.length = at;
          watcher.closed(name, start - 2);
        },
        ondeclaration: () => watcher.doctype(),
        isInForeignContext: () => this.#isForeign,
        onattribentity: nothing,
        oncdata: nothing,
        oncomment: nothing,
        onend: nothing,
        onprocessinginstruction: nothing,
        ontext: nothing,
        ontextentity: nothing,
      },
    );
  }

  /** The tag that is being read. */
  get open(): Tag | null {
    return this.#tag;
  }

  write(text: string): void {
    this.#tokenizer.write(text);
  }

  get #isForeign(): boolean {
    return FOREIGN.has(this.#foreign.at(-1) ?? "");
  }
}
