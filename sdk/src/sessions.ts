import type { Context } from "hono";
import type { Session, SessionCookie } from "./cookies.ts";

/** A value for each visitor of a site. */
export class Sessions<T> {
  readonly #cookie: SessionCookie;
  readonly #fresh: () => T;
  #values = new WeakMap<Session, { readonly value: T }>();

  constructor(cookie: SessionCookie, fresh: () => T) {
    this.#cookie = cookie;
    this.#fresh = fresh;
  }

  /** The value of whoever sends this request; the answer sets the session cookie if there was none. */
  of(c: Context): T {
    const session = this.#cookie.sessionOf(c);
    const kept = this.#values.get(session) ?? { value: this.#fresh() };
    this.#values.set(session, kept);
    return kept.value;
  }

  /** Forgets everybody's value. */
  clear(): void {
    this.#values = new WeakMap();
  }
}
