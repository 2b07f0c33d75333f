import type { Context } from "hono";
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { AuthorError } from "./author-error.ts";
import type { CardDeclaration } from "./card.ts";
import { SessionCookie } from "./cookies.ts";
import { Environment } from "./environment.ts";
import { type Place, portFrom } from "./place.ts";
import { Sessions } from "./sessions.ts";

/** What a page handler may return: a template of `html`, or any response. */
type Page = HtmlEscapedString | Response;

/** Where deploys look whether a backend is up (3-wire §website). */
const HEALTH_PATH = "/api/health";

/**
 * A website's backend: pages, API routes (`app`), the data plane, and MCP in the same process if it has tools. Listens on
 * `HOST` and `PORT` (`0.0.0.0`, 8000).
 */
export class WebsiteEnvironment extends Environment {
  readonly #cookie: SessionCookie;
  readonly #pages = new Set<string>();

  constructor(card?: CardDeclaration) {
    super(card);
    this.#cookie = new SessionCookie(this.name);
    this.app.get(HEALTH_PATH, (c) => c.json({ ok: true }));
  }

  /** Serves a page at a path, written with the `html` template. */
  page(path: string, render: (c: Context) => Page | Promise<Page>): this {
    const what = `page ${JSON.stringify(path)}`;
    this.refuseTaken(what, path, [HEALTH_PATH]);
    if (this.#pages.has(path)) {
      throw new AuthorError({ what: `${what} is there twice`, why: "a path shows one page", next: "give one of them another path" });
    }
    this.#pages.add(path);
    this.app.get(path, async (c) => {
      const page = await render(c);
      // Escapes what was not made by `html`, for authors who don't check types.
      return page instanceof Response ? page : c.html(html`${page}`);
    });
    return this;
  }

  /** One value a visitor, made by `fresh` at the first visit and kept in memory by this site's session cookie. */
  sessions<T>(fresh: () => T): Sessions<T> {
    return new Sessions(this.#cookie, fresh);
  }

  protected override place(): Place {
    return { host: process.env["HOST"] || "0.0.0.0", port: portFrom("PORT", 8000) };
  }
}
