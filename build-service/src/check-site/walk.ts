import type { Browser, BrowserContext } from "playwright-core";
import type { Act } from "./act-script.ts";
import { NOTING } from "./page-scripts.ts";
import { reached, type SiteAddress } from "./site-address.ts";
import { Tab } from "./tab.ts";
import { actKey, type PageRecord, type WalkRecord } from "./walk-record.ts";

const MOST_LEVELS = 5;
const BUDGET_S = 60;

export type WalkOptions = {
  readonly browser: Browser;
  readonly address: SiteAddress;
  /** Opened before all else where only that lets a browser in. */
  readonly entrance: string | null;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly acts: readonly Act[];
  /** So many pages as links lead to, or exactly these, so that one walk goes the way of another. */
  readonly pages: { readonly most: number } | { readonly these: readonly string[] };
  readonly signal: AbortSignal;
  /** Told of each page as it comes; false ends the walk. */
  readonly onPage: (page: PageRecord) => boolean;
};

/**
 * Walks a site in a browser context of its own: the act script first, then pages from `/` by their links, breadth first, by GET
 * alone (7-sites §6.1). Rejects with the signal's reason when it is aborted.
 */
export async function walk(options: WalkOptions): Promise<WalkRecord> {
  const { browser, address, signal, entrance } = options;
  const started = performance.now();
  const context = await browser.newContext({ extraHTTPHeaders: { ...options.headers } });
  const close = (): void => void context.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    await context.addInitScript(NOTING);
    if (entrance !== null) await enter(context, entrance);
    const pages: PageRecord[] = [];
    const cutShort = await visitAll(context, options, pages, () => (performance.now() - started) / 1000 > BUDGET_S);
    const cookies = await context.cookies();
    return {
      mode: address.mode,
      base: address.base,
      pages,
      cookies: cookies.map(({ name, path, domain }) => ({ name, path, host: domain })),
      cutShort,
      seconds: Math.round((performance.now() - started) / 100) / 10,
    };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
    await context.close();
  }
}

/** Gives why it ended early, or null. */
async function visitAll(context: BrowserContext, options: WalkOptions, pages: PageRecord[], isOver: () => boolean): Promise<string | null> {
  const { address, acts, onPage } = options;
  const add = (page: PageRecord): boolean => {
    pages.push(page);
    return onPage(page);
  };
  let from = "/";
  if (acts.length > 0) {
    const tab = await Tab.open(context, address);
    if (acts[0]?.is !== "goto") await tab.visit("/");
    for (const act of acts) {
      const page = await tab.perform(act, actKey(act.line));
      from = page.path;
      if (!add(page) || page.failure !== null) return `it ended at line ${act.line} of the act script`;
    }
    await tab.close();
  }
  const way = new Way("these" in options.pages ? options.pages.these : ["/", from], "these" in options.pages ? null : options.pages.most);
  for (let next = way.next(); next !== null; next = way.next()) {
    if (isOver()) return `${BUDGET_S} s were over`;
    const tab = await Tab.open(context, address);
    const page = await tab.visit(next.path);
    await tab.close();
    if (!add(page)) return "enough was known";
    for (const link of page.links) {
      const to = reached(link, address);
      if (to.is === "site") way.add(to.path, next.level + 1);
    }
  }
  return way.cutShort;
}

async function enter(context: BrowserContext, entrance: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(entrance);
  await page.close();
}

/** The pages that are still to be opened, each once. `most` null: those of the start, and no others. */
class Way {
  readonly #most: number | null;
  readonly #known = new Map<string, number>();
  readonly #left: { readonly path: string; readonly level: number }[] = [];
  #isOver = false;

  constructor(start: readonly string[], most: number | null) {
    this.#most = most;
    for (const path of new Set(start)) this.#put(path, 1);
  }

  add(path: string, level: number): void {
    if (this.#most === null || this.#known.has(path)) return;
    if (level > MOST_LEVELS || this.#known.size >= this.#most) this.#isOver = true;
    else this.#put(path, level);
  }

  next(): { readonly path: string; readonly level: number } | null {
    return this.#left.shift() ?? null;
  }

  /** Which pages were not opened for their number. */
  get cutShort(): string | null {
    return this.#isOver ? `there are more than ${this.#most} pages, or some beyond ${MOST_LEVELS} links` : null;
  }

  #put(path: string, level: number): void {
    this.#known.set(path, level);
    this.#left.push({ path, level });
  }
}
