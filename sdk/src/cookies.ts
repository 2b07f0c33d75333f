import { createHash, randomBytes } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { pathPrefix } from "./links.ts";

/** Visitors may never come back: beyond this number the oldest session is forgotten. */
const MAX_SESSIONS = 10_000;

/** A visitor of one site. Values are kept by it, and go when it goes. */
export type Session = { readonly id: string };

/** The session cookie of one site: its name is made from the site's, so that sites of one origin never share it (W1.5). */
export class SessionCookie {
  readonly name: string;
  /** In the order in which they were given out. */
  readonly #sessions = new Map<string, Session>();
  /** What a request without a cookie was given, so that all who ask for it get the same. */
  readonly #given = new WeakMap<Request, Session>();

  constructor(site: string) {
    this.name = `agentenv_session_${createHash("sha256").update(site).digest("hex").slice(0, 16)}`;
  }

  /** The visitor's session. A cookie that this process didn't give out is replaced by a new one. */
  sessionOf(c: Context): Session {
    const known = this.#given.get(c.req.raw) ?? this.#sessions.get(getCookie(c, this.name) ?? "");
    if (known !== undefined) return known;
    const session = this.#newSession();
    this.#given.set(c.req.raw, session);
    setCookie(c, this.name, session.id, {
      httpOnly: true,
      sameSite: "Lax",
      path: `${pathPrefix()}/`,
      secure: c.req.header("x-forwarded-proto") === "https",
    });
    return session;
  }

  #newSession(): Session {
    const session = { id: randomBytes(16).toString("hex") };
    this.#sessions.set(session.id, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }
}
