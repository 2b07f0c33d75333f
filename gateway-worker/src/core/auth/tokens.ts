import {
  PAGE_TOKEN_SECONDS,
  PAGE_TOKEN_TYPE,
  PageTokenClaims,
  PublicKey,
  TOKEN_ALGORITHM,
  TOKEN_TYPE,
  TokenClaims,
} from "@agent-env/protocol";
import { errors, importJWK, type JWTPayload, jwtVerify } from "jose";
import { type Caller, namedCaller } from "./caller.ts";

/** How far the clocks of whoever signs and of the gateway may differ. */
const SKEW_SECONDS = 5;
const MAX_TOKEN_LENGTH = 4_096;
const MAX_KNOWN = 1_000;

/** Whose tokens are good: those for this deployment, signed by one of these keys. Plain data. */
export type TokenRules = { readonly deployment: string; readonly keys: readonly unknown[] };

/** Why a token isn't good here. More is nobody's business but its issuer's. */
export type BadToken = "expired" | "not valid";
export type Page = { readonly id: string; readonly sub: string; readonly caller: Caller; readonly expiresMs: number };

type Known = { readonly caller: Caller; readonly expiresMs: number };
type Key = Awaited<ReturnType<typeof importJWK>>;

/** Checks the tokens of one deployment's callers. A token that was good is remembered until it expires. */
export class TokenVerifier {
  readonly #deployment: string;
  readonly #keys: Promise<ReadonlyMap<string, Key>>;
  readonly #now: () => number;
  /** By the token itself: a digest would cost a third of what a call costs, and the token is in memory anyway. */
  readonly #known = new Map<string, Known>();

  constructor({ deployment, keys }: TokenRules, now: () => number = Date.now) {
    this.#deployment = deployment;
    this.#now = now;
    this.#keys = imported(keys);
    this.#keys.catch(() => undefined);
  }

  /** The caller that a bearer token names, or what is wrong with it. */
  verify(token: string): Caller | BadToken | Promise<Caller | BadToken> {
    const known = this.#known.get(token);
    if (known === undefined) return this.#verifyAnew(token);
    if (known.expiresMs > this.#now()) return known.caller;
    this.#known.delete(token);
    return "expired";
  }

  /** What a page token says. Whether it was used before is for its reader to know. */
  async verifyPage(token: string): Promise<Page | BadToken> {
    const payload = await this.#payload(token, PAGE_TOKEN_TYPE);
    if (typeof payload === "string") return payload;
    const claims = PageTokenClaims.safeParse(payload).data;
    if (claims === undefined || claims.exp - claims.iat > PAGE_TOKEN_SECONDS) return "not valid";
    const { jti, sub, exp } = claims;
    const scope = claims.scope.filter((each) => each === "sites");
    return { id: jti, sub, caller: namedCaller({ ...claims, scope }), expiresMs: (exp + SKEW_SECONDS) * 1000 };
  }

  async #verifyAnew(token: string): Promise<Caller | BadToken> {
    const payload = await this.#payload(token, TOKEN_TYPE);
    if (typeof payload === "string") return payload;
    const claims = TokenClaims.safeParse(payload).data;
    if (claims === undefined) return "not valid";
    const caller = namedCaller(claims);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(token, { caller, expiresMs: (claims.exp + SKEW_SECONDS) * 1000 });
    return caller;
  }

  async #payload(token: string, typ: string): Promise<JWTPayload | BadToken> {
    if (token.length > MAX_TOKEN_LENGTH) return "not valid";
    const keys = await this.#keys;
    try {
      const keyNamed = ({ kid }: { kid?: string }): Key => {
        const key = kid === undefined ? undefined : keys.get(kid);
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key;
      };
      const { payload } = await jwtVerify(token, keyNamed, {
        algorithms: [TOKEN_ALGORITHM],
        typ,
        audience: this.#deployment,
        requiredClaims: ["exp"],
        clockTolerance: SKEW_SECONDS,
        currentDate: new Date(this.#now()),
      });
      // one for several deployments is none of ours: each has its own
      return Array.isArray(payload.aud) ? "not valid" : payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) return "expired";
      if (error instanceof errors.JOSEError) return "not valid";
      throw error;
    }
  }
}

/** The keys by their ids. What is no key that tokens are signed with is passed over: it verifies nothing. */
async function imported(keys: readonly unknown[]): Promise<ReadonlyMap<string, Key>> {
  const found = new Map<string, Key>();
  for (const one of keys) {
    const { data } = PublicKey.safeParse(one);
    if (data !== undefined) found.set(data.kid, await importJWK({ kty: data.kty, crv: data.crv, x: data.x }, TOKEN_ALGORITHM));
  }
  return found;
}
