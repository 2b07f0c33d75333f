import {
  badToken,
  browserWithoutToken,
  type GatewayError,
  missingScope,
  needsPageLink,
  needsToken,
  otherRole,
  tokenRoleProblem,
  usedPageLink,
} from "@agent-env/protocol";
import type { Need } from "../route.ts";
import type { Field, In } from "../seam.ts";
import type { View } from "../view.ts";
import { anyone, type Caller, may, namedCaller, namedRolesOf, openCaller } from "./caller.ts";
import { bearersOf, cookiesOf, isOurToken } from "./credentials.ts";
import { isOwnPages, mayBePages } from "./origin.ts";
import { pageCookieName, pageLinkOf, seeOther } from "./page-link.ts";
import type { Pages } from "./pages.ts";
import { type TokenRules, TokenVerifier } from "./tokens.ts";

/** How the callers of a deployment are known. Plain data. */
export type AuthRules = TokenRules & { readonly mode: "open" | "token" };

/** Whom a request is let in as, why it isn't, or the page that it is sent to with its cookie. */
export type Admission = { readonly caller: Caller } | { readonly error: GatewayError } | { readonly seeOther: readonly Field[] };

/** A request, what its route needs, and what opens pages. */
type Asked = { readonly view: View; readonly need: Need; readonly request: In; readonly pages: Pages };

/** Of the cookies of one name, which somebody else may have set, so many are tried. */
const MAX_COOKIES = 8;

/** Decides who a request's caller is, and whether it may do what it asks (2-architecture, callers and tokens). */
export class Gate {
  readonly #rules: AuthRules;
  readonly #tokens: TokenVerifier;

  constructor(rules: AuthRules, now: () => number = Date.now) {
    this.#rules = rules;
    this.#tokens = new TokenVerifier(rules, now);
  }

  /** The first rule that fails answers. */
  async admit({ view, need, request, pages }: Asked): Promise<Admission> {
    if (need.scope === "none") return { caller: anyone() };
    if (this.#rules.mode === "open") return await this.#admitOpenly(view, need, request);
    const tokens = bearersOf(request).filter((token) => need.page === null || isOurToken(token));
    const [token] = tokens;
    if (token === undefined) return need.page === null ? { error: needsToken() } : await this.#admitToPage(need, request, pages);
    const verified = tokens.length > 1 ? "not valid" : await this.#tokens.verify(token);
    return typeof verified === "string" ? { error: badToken(verified) } : allowed(verified, need, request);
  }

  /** In open mode the role is believed and everything is allowed, but for what a site's page could ask as its viewer. */
  async #admitOpenly(view: View, need: Need, request: In): Promise<Admission> {
    const caller = openCaller(request);
    if (need.page !== null || !mayBePages(view, request)) return { caller };
    const [token] = bearersOf(request).filter(isOurToken);
    if (token === undefined) return { error: browserWithoutToken() };
    const verified = await this.#tokens.verify(token);
    return typeof verified === "string" ? { error: badToken(verified) } : { caller };
  }

  /** A browser has a link, once, and then a cookie. */
  async #admitToPage(need: Need, request: In, pages: Pages): Promise<Admission> {
    const name = pageCookieName(this.#rules.deployment, need.page);
    const link = pageLinkOf(request);
    const caller = await cookieCaller(name, request, pages);
    if (link === null) return caller === null ? { error: needsPageLink() } : allowed(caller, need, request);
    if (request.method !== "GET") return { error: needsPageLink() };
    const page = await this.#tokens.verifyPage(link.token);
    if (typeof page === "string") return { error: badToken(page) };
    const refused = allowed(page.caller, need, request);
    if ("error" in refused) return refused;
    const cookie = await pages.redeem({ id: page.id, sub: page.sub, role: page.caller.role, expiresMs: page.expiresMs });
    return cookie === null ? { error: usedPageLink() } : { seeOther: seeOther(request, need.page, { ...cookie, name, path: link.path }) };
  }
}

async function cookieCaller(name: string, request: In, pages: Pages): Promise<Caller | null> {
  if (!isOwnPages(request)) return null;
  for (const value of cookiesOf(request, name).slice(0, MAX_COOKIES)) {
    const opened = await pages.open(value);
    if (opened !== null) return namedCaller({ ...opened, scope: ["sites"] });
  }
  return null;
}

/** Whether a caller may do what is asked, and in which role. */
function allowed(caller: Caller, need: Need, request: In): Admission {
  const { scope } = need;
  if (scope !== "any" && scope !== "none" && !may(caller, scope)) return { error: missingScope(scope) };
  const named = [...new Set(namedRolesOf(request))];
  const [role] = named;
  if (role === undefined || (named.length === 1 && role === caller.role)) return { caller };
  return named.length === 1 && tokenRoleProblem(role) === null && may(caller, "act-as")
    ? { caller: actingAs(caller, role) }
    : { error: otherRole() };
}

/** The same caller in another role: what it has in one isn't found in the other. */
function actingAs(caller: Caller, role: string): Caller {
  return { ...namedCaller({ sub: caller.owner, role, scope: caller.scopes ?? [] }), session: caller.session };
}
