import { reached, type SiteAddress } from "./site-address.ts";
import type { PageRecord, Sent, WalkRecord } from "./walk-record.ts";

type Outcome = Pick<Sent, "failure" | "status">;

/** What the page itself gave up is no failure of the request, and its answer, if there was one by then, is what became of it. */
const GIVEN_UP = "net::ERR_ABORTED";

/** Whether a request came to nothing. */
export function hasFailed({ failure, status }: Outcome): boolean {
  return failure === null || failure === GIVEN_UP ? status !== null && status >= 400 : true;
}

/** How a failure is told. */
export function failureText({ failure, status }: Outcome): string {
  return failure === null || (failure === GIVEN_UP && status !== null) ? `answered ${status}` : failure;
}

type Answers = { readonly failed: boolean; readonly mimes: ReadonlySet<string> };

/**
 * What is true of a site in host mode: what all walks there agree on. What differs between them changes by itself, and says
 * nothing about a prefix.
 */
export class HostView {
  readonly isKnown: boolean;
  readonly walks: readonly WalkRecord[];
  readonly #answers = new Map<string, Answers>();

  constructor(walks: readonly WalkRecord[]) {
    this.walks = walks;
    this.isKnown = walks.length > 0;
    for (const walk of walks) {
      for (const sent of walk.pages.flatMap((page) => page.sent)) this.#note(sent, walk);
    }
  }

  /** How a path of the site was answered; undefined where it was never asked for. */
  answers(method: string, path: string): Answers | undefined {
    return this.#answers.get(`${method} ${path}`);
  }

  /** A page in all walks; empty where one of them has it not. */
  pages(key: string): readonly PageRecord[] {
    const found = this.walks.flatMap(({ pages }) => pages.find((page) => page.key === key) ?? []);
    return found.length === this.walks.length ? found : [];
  }

  /** Whether any walk's page of that key shows this. */
  some(key: string, shows: (page: PageRecord) => boolean): boolean {
    return this.walks.some(({ pages }) => pages.some((page) => page.key === key && shows(page)));
  }

  /** What all walks have, by name. */
  inAll(namesOf: (walk: WalkRecord) => readonly string[]): string[] {
    const [first, ...others] = this.walks.map((walk) => new Set(namesOf(walk)));
    return [...(first ?? [])].filter((name) => others.every((names) => names.has(name)));
  }

  #note(sent: Sent, address: Pick<SiteAddress, "base">): void {
    const where = reached(sent.url, address);
    if (where.is !== "site") return;
    const key = `${sent.method} ${where.path}`;
    const known = this.#answers.get(key);
    const mimes = sent.mime === "" ? [] : [sent.mime];
    this.#answers.set(key, { failed: known?.failed === true || hasFailed(sent), mimes: new Set([...(known?.mimes ?? []), ...mimes]) });
  }
}
