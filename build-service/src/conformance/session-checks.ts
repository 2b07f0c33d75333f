import { createHash } from "node:crypto";
import { type Check, failed, passed, type Subject, skipped, type Verdict } from "./check.ts";
import { type SetCookie, setCookieOf } from "./cookies.ts";
import type { Exchange } from "./http.ts";
import { type Site, siteOf, viewerHeaders } from "./site.ts";

const FORM = "agentenv_session_";
/** What a cookie that tells visitors apart is usually called. */
const SESSION_LIKE = /^agentenv_session_|sess|sid$|auth|token/i;
/** Too little to guess: 128 bits, in any usual writing. */
const LEAST_VALUE = 22;
const INVENTED = "0123456789abcdef0123456789abcdef";

/** What is promised of a site's session cookie (W1.5, 3-wire §website). */
export const SESSION_CHECKS: readonly Check[] = [
  visited({
    id: "session-path",
    title: "cookies lie under the prefix that the site is seen at",
    verdict({ site, cookies }) {
      const wrong = cookies.filter(({ attributes }) => attributes.has("path") && !attributes.get("path")?.startsWith(`${site.prefix}/`));
      if (wrong.length === 0) return passed;
      return failed(site.page, {
        expected: `Path=${site.prefix}/`,
        got: wrong.map(({ name, attributes }) => `${name} with Path=${attributes.get("path")}`).join(", "),
        fix: "set Path to X-Forwarded-Prefix and a slash: on / other sites of the same host get the cookie too",
      });
    },
  }),
  visited({
    id: "session-domain",
    title: "cookies name no domain",
    verdict({ site, cookies }) {
      const wrong = cookies.filter(({ attributes }) => attributes.has("domain"));
      if (wrong.length === 0) return passed;
      return failed(site.page, {
        expected: "no Domain",
        got: wrong.map(({ name, attributes }) => `${name} with Domain=${attributes.get("domain")}`).join(", "),
        fix: "leave Domain out: a site doesn't know the host that it is seen at",
      });
    },
  }),
  visited({
    id: "session-flags",
    title: "the session cookie is HttpOnly and SameSite",
    verdict({ site, session: { name, attributes } }) {
      const sameSite = attributes.get("samesite")?.toLowerCase();
      if (attributes.has("httponly") && (sameSite === "lax" || sameSite === "strict")) return passed;
      return failed(site.page, {
        expected: "HttpOnly; SameSite=Lax",
        got: `${name} with ${[...attributes.keys()].join(", ") || "neither"}`,
        fix: "set both: no script needs the cookie, and no other site sends it",
      });
    },
  }),
  visited({
    id: "session-secure",
    title: "the session cookie is Secure where its viewer comes by https, and only there",
    verdict({ site, session: { name, attributes } }) {
      if (attributes.has("secure") === site.isHttps) return passed;
      return failed(site.page, {
        expected: site.isHttps ? "Secure" : "no Secure: by http a browser would drop the cookie",
        got: `${name} ${attributes.has("secure") ? "with" : "without"} Secure`,
        fix: "set Secure if X-Forwarded-Proto is https",
      });
    },
  }),
  visited({
    id: "session-name",
    title: "the session cookie has a name that no other site's has",
    verdict({ subject, site, session: { name } }) {
      const own = `${FORM}${createHash("sha256").update(subject.card.name).digest("hex").slice(0, 16)}`;
      if (name === own) return passed;
      return failed(site.page, {
        expected: own,
        got: name,
        fix: `name it ${FORM} and 16 hex digits of the SHA-256 of the card's name: sites of one host then never read each other's`,
      });
    },
  }),
  visited({
    id: "session-value",
    title: "each visitor gets a session of its own that can't be guessed",
    async verdict({ subject, session }) {
      const other = await visit(subject);
      const [value, second] = [session.value, cookieValue(other, session.name)];
      if (value.length >= LEAST_VALUE && second !== null && second !== value) return passed;
      return failed(other, {
        expected: "another random value of 128 bits",
        got: `${JSON.stringify(value)} for one visitor, ${JSON.stringify(second)} for the next`,
        fix: "draw 16 random bytes for each visitor",
      });
    },
  }),
  visited({
    id: "session-kept",
    title: "a visitor who comes back keeps the session",
    async verdict({ subject, session }) {
      const answer = await visit(subject, `${session.name}=${session.value}`);
      const next = cookieValue(answer, session.name);
      if (next === null || next === session.value) return passed;
      return failed(answer, { expected: "no new session", got: `${session.name}=${next}`, fix: "know the sessions that were given out" });
    },
  }),
  visited({
    id: "session-invented",
    title: "a session that was never given out is replaced",
    async verdict({ subject, session }) {
      const answer = await visit(subject, `${session.name}=${INVENTED}`);
      const next = cookieValue(answer, session.name);
      if (next !== null && next !== INVENTED) return passed;
      return failed(answer, {
        expected: "a new session in its place",
        got: next === null ? "the invented one is used" : `${session.name}=${next}`,
        fix: "take only sessions that this site has given out: else a visitor can be handed one that somebody else knows",
      });
    },
  }),
];

type Visit = { readonly subject: Subject; readonly site: Site; readonly cookies: readonly SetCookie[]; readonly session: SetCookie };

function visited({
  verdict,
  ...check
}: Omit<Check, "group" | "level" | "run"> & { verdict(visit: Visit): Verdict | Promise<Verdict> }): Check {
  return {
    ...check,
    group: "session",
    level: "recommended",
    async run(subject) {
      const site = await siteOf(subject);
      if (site === null) return skipped("it serves no pages");
      const cookies = site.page.all("set-cookie").map(setCookieOf);
      const session = cookies.find(({ name }) => name.startsWith(FORM)) ?? cookies.find(({ name }) => SESSION_LIKE.test(name));
      if (session === undefined) return skipped("its page at / sets no session cookie");
      return await verdict({ subject, site, cookies, session });
    },
  };
}

function visit(subject: Subject, cookie?: string): Promise<Exchange> {
  return subject.http.ask("/", { headers: { ...viewerHeaders(subject), ...(cookie === undefined ? {} : { cookie }) } });
}

function cookieValue(answer: Exchange, name: string): string | null {
  return (
    answer
      .all("set-cookie")
      .map(setCookieOf)
      .find((cookie) => cookie.name === name)?.value ?? null
  );
}
