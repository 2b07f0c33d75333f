import { z } from "zod";
import type { Vault } from "../deployment/vault.ts";
import type { Sql } from "../seam.ts";
import type { Page } from "./tokens.ts";

/** How long a page's cookie lasts. */
const COOKIE_MS = 12 * 3_600_000;

/** `{page: [deployment, sub, role, expiry]}`: an object, so that nothing else that is sealed is ever read as one. */
const Sealed = z.strictObject({ page: z.tuple([z.string(), z.string(), z.string(), z.number()]) });

/** Whom a page's cookie lets in, and until when. */
export type PageCaller = { readonly sub: string; readonly role: string; readonly expiresMs: number };

/** What opens pages: tokens that are traded for a cookie, once each, and the cookies. */
export interface Pages {
  /** The value of the cookie that a page token is traded for; null where it was traded before. */
  redeem(page: Pick<Page, "id" | "sub" | "expiresMs"> & { readonly role: string }): Promise<PageCookie | null>;
  /** Whom a cookie's value lets in; null for one that was changed, has expired, or is another deployment's. */
  open(value: string): Promise<PageCaller | null>;
}
export type PageCookie = { readonly value: string; readonly seconds: number };

/** Pages as the deployment's own object opens them. */
export class SealedPages implements Pages {
  readonly #sql: Sql;
  readonly #committed: () => void | Promise<void>;
  readonly #vault: Vault;
  readonly #deployment: string;
  readonly #now: () => number;

  constructor(parts: { sql: Sql; committed: () => void | Promise<void>; vault: Vault; deployment: string; now: () => number }) {
    this.#sql = parts.sql;
    this.#committed = parts.committed;
    this.#vault = parts.vault;
    this.#deployment = parts.deployment;
    this.#now = parts.now;
  }

  async redeem(page: Parameters<Pages["redeem"]>[0]): Promise<PageCookie | null> {
    const now = this.#now();
    this.#sql.exec("DELETE FROM used_pages WHERE expires < ?", now);
    const isUsed = this.#sql.exec("SELECT 1 FROM used_pages WHERE id = ?", page.id).length > 0;
    if (isUsed || page.expiresMs < now) return null;
    this.#sql.exec("INSERT INTO used_pages (id, expires) VALUES (?, ?)", page.id, page.expiresMs);
    await this.#committed();
    const value = await this.#vault.seal(JSON.stringify({ page: [this.#deployment, page.sub, page.role, now + COOKIE_MS] }));
    return { value, seconds: COOKIE_MS / 1000 };
  }

  async open(value: string): Promise<PageCaller | null> {
    const text = await this.#vault.open(value);
    const sealed = text === null ? undefined : Sealed.safeParse(JSON.parse(text)).data;
    if (sealed === undefined) return null;
    const [deployment, sub, role, expiresMs] = sealed.page;
    return deployment === this.#deployment && expiresMs > this.#now() ? { sub, role, expiresMs } : null;
  }
}
