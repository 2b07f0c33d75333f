import type { SitePlace } from "@agent-env/protocol";
import type { BrowserContext, Page } from "playwright-core";
import type { Act } from "./act-script.ts";
import { firstLine } from "./browser.ts";
import { PageRecorder } from "./page-recorder.ts";
import { FACTS, PageFacts } from "./page-scripts.ts";
import { reached, type SiteAddress, withoutAddress } from "./site-address.ts";
import type { PageRecord } from "./walk-record.ts";

const OPEN_BUDGET_MS = 15_000;
const ACT_BUDGET_MS = 10_000;
/** A page that has gone elsewhere by itself while it was asked is asked again. */
const TRIES = 3;
/** Of a text beyond that nobody reads a difference. */
const MOST_LINES = 2_000;

/** A tab in which pages of a site are opened and listened to. */
export class Tab {
  readonly #page: Page;
  readonly #recorder: PageRecorder;
  readonly #address: SiteAddress;
  /** Chromium's word for why the last navigation failed. */
  #failure: string | null = null;

  private constructor(page: Page, recorder: PageRecorder, address: SiteAddress) {
    this.#page = page;
    this.#recorder = recorder;
    this.#address = address;
    page.on("requestfailed", (request) => {
      if (request.isNavigationRequest()) this.#failure = request.failure()?.errorText ?? null;
    });
  }

  static async open(context: BrowserContext, address: SiteAddress): Promise<Tab> {
    const page = await context.newPage();
    return new Tab(page, await PageRecorder.of(page), address);
  }

  /** Opens a path of the site, and tells of it when it has come to rest. */
  async visit(path: string): Promise<PageRecord> {
    const failure = await this.#go(path);
    await this.#recorder.quiet.reached();
    return this.#record(path, failure);
  }

  /** Does what a line of an act script says, and tells of the page afterwards. `failure` says why it could not be done. */
  async perform(act: Act, key: string): Promise<PageRecord> {
    const failure = act.is === "goto" ? await this.#go(act.path) : await this.#tried(act);
    await this.#recorder.quiet.reached();
    return this.#record(key, failure);
  }

  close(): Promise<void> {
    return this.#page.close();
  }

  async #go(path: string): Promise<string | null> {
    this.#failure = null;
    try {
      await this.#page.goto(this.#address.base + path.slice(1), { waitUntil: "domcontentloaded", timeout: OPEN_BUDGET_MS });
      return null;
    } catch (error) {
      return this.#failure ?? firstLine(error);
    }
  }

  async #tried(act: Exclude<Act, { is: "goto" }>): Promise<string | null> {
    const within = { timeout: ACT_BUDGET_MS };
    try {
      switch (act.is) {
        case "click":
          await this.#page.click(act.selector, within);
          break;
        case "fill":
          await this.#page.fill(act.selector, act.value, within);
          break;
        case "press":
          await this.#page.keyboard.press(act.key);
          break;
        case "wait":
          await this.#page.getByText(act.words).first().waitFor(within);
      }
      return null;
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError";
      return isLate ? `nothing that fits was there within ${ACT_BUDGET_MS / 1000} s` : firstLine(error);
    }
  }

  async #record(key: string, failure: string | null): Promise<PageRecord> {
    const facts = await this.#facts();
    const { sent, troubles, sockets } = await this.#recorder.take();
    const { callSites } = this.#recorder;
    const page = sent.findLast(({ isPage }) => isPage);
    const where = reached(this.#page.url(), this.#address);
    const at = (stack: string): SitePlace | null => callSites.ofText(stack);
    return {
      key,
      path: where.is === "site" ? where.path : key,
      status: page?.status ?? null,
      failure: failure ?? facts.failure,
      title: withoutAddress(facts.title, this.#address),
      text: linesOf(withoutAddress(facts.text, this.#address)),
      links: facts.links,
      sent,
      troubles: troubles.map(({ text, at }) => ({ text: withoutAddress(text, this.#address), at })),
      sockets,
      workers: facts.workers.map(({ stack, script, scope, failure }) => ({
        script,
        scope,
        failure: failure === null ? null : withoutAddress(failure, this.#address),
        at: at(stack),
      })),
      scriptCookies: facts.cookies.map(({ name, stack }) => ({ name, at: at(stack) })),
      hasShim: facts.hasShim,
      hasPolicy: facts.isHtml && (facts.hasPolicy || page?.hasPolicy === true),
    };
  }

  async #facts(): Promise<Omit<PageFacts, "url"> & { readonly failure: string | null }> {
    for (let tries = 1; ; tries++) {
      try {
        return { ...PageFacts.parse(await this.#page.evaluate<unknown>(FACTS)), failure: null };
      } catch (error) {
        if (this.#page.isClosed()) throw error;
        if (tries >= TRIES) return { ...NOTHING, failure: `it can't be looked into: ${firstLine(error)}` };
        await this.#recorder.quiet.reached();
      }
    }
  }
}

const NOTHING = { title: "", text: "", links: [], cookies: [], workers: [], isHtml: false, hasShim: false, hasPolicy: false };

function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return lines.filter((line) => line !== "").slice(0, MOST_LINES);
}
