/** What a site does that can't be made good for it under a prefix, or only at a price. */
export type DefectKind = "escape" | "insecure-cookie" | "long" | "policy" | "unreadable";

/** Counts a defect of a site; `at` is the request that showed it. */
export type NoteDefect = (site: string, kind: DefectKind, at: string) => void;

const SAYS: Readonly<Record<DefectKind, string>> = {
  escape: "requests left the prefix and were sent back by their Referer; write relative URLs, or use X-Forwarded-Prefix",
  "insecure-cookie": "answers set a Secure cookie over plain http; it was stored without Secure",
  long: "pages have more than can be rewritten; the rest of each passed as it is",
  policy: "pages have a Content-Security-Policy that forbids the shim: URLs made by their scripts are not prefixed",
  unreadable: "pages are in an encoding that can't be rewritten, and passed as they are",
};

/** The defects of a site since the gateway started, for `/state`. */
export class SiteDefects {
  readonly #kinds = new Map<DefectKind, { readonly count: number; readonly last: string }>();

  /** Counts one more. Whether it is the first of its kind. */
  add(kind: DefectKind, at: string): boolean {
    const isFirst = !this.#kinds.has(kind);
    this.#kinds.set(kind, { count: (this.#kinds.get(kind)?.count ?? 0) + 1, last: at.slice(0, 200) });
    return isFirst;
  }

  /** A line for each kind. */
  lines(): string[] {
    return [...this.#kinds].map(([kind, { count, last }]) => `${count} ${SAYS[kind]} (last: ${last})`);
  }
}
