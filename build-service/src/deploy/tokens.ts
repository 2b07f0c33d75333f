import { randomUUID } from "node:crypto";
import {
  type DeploymentRecord,
  PAGE_PARAM,
  PAGE_TOKEN_SECONDS,
  PAGE_TOKEN_TYPE,
  PRESETS,
  type Preset,
  TOKEN_ALGORITHM,
  TOKEN_TYPE,
  UserError,
} from "@agent-env/protocol";
import { importJWK, SignJWT } from "jose";
import { type PrivateKey, readKey } from "./keys.ts";

/** Who a token names, and for how long. */
export type TokenRequest = {
  readonly preset: Preset;
  readonly role: string;
  /** Its sessions are those of this caller and role. */
  readonly caller: string;
  readonly ttlSeconds: number;
};
export type Token = { readonly token: string; readonly expiresAt: Date };

/** A token for a caller of a deployment, signed with the key that lies in the state folder. It never outlives the deployment. */
export async function mintToken(stateDir: string, record: DeploymentRecord, request: TokenRequest): Promise<Token> {
  const { preset, role, caller, ttlSeconds } = request;
  const expiresAt = earliest(new Date(Date.now() + ttlSeconds * 1000), record);
  const claims = { sub: caller, role, scope: PRESETS[preset].join(" ") };
  return { token: await signed(await keyOf(stateDir, record), { claims, typ: TOKEN_TYPE, expiresAt, record }), expiresAt };
}

/** A link that opens a site's pages in a browser, once. Without tokens it is the site's address. */
export async function pageLink(
  stateDir: string,
  record: DeploymentRecord,
  { site, role, caller }: { readonly site: string; readonly role: string; readonly caller: string },
): Promise<{ readonly url: string; readonly expiresAt: Date | null }> {
  const page = Object.hasOwn(record.website_frontend_urls, site) ? record.website_frontend_urls[site] : undefined;
  if (page === undefined) {
    const sites = Object.keys(record.website_frontend_urls);
    throw new UserError({
      what: `--page ${JSON.stringify(site)}: ${record.deployment_id} has no such site`,
      why: sites.length === 0 ? "it has no sites" : `its sites are ${sites.join(", ")}`,
      next: sites.length === 0 ? "leave --page out for a token" : "name one of them",
    });
  }
  if (record.auth.mode === "open") return { url: page, expiresAt: null };
  const expiresAt = earliest(new Date(Date.now() + PAGE_TOKEN_SECONDS * 1000), record);
  const claims = { sub: caller, role, scope: "sites", jti: randomUUID() };
  const token = await signed(await keyOf(stateDir, record), { claims, typ: PAGE_TOKEN_TYPE, expiresAt, record });
  return { url: `${page}?${PAGE_PARAM}=${token}`, expiresAt };
}

/** What a request to a deployment has to say of its caller: nothing to one without tokens. */
export async function authorization(
  stateDir: string,
  record: DeploymentRecord,
  request: Omit<TokenRequest, "role">,
): Promise<{ readonly authorization?: string }> {
  if (record.auth.mode === "open") return {};
  return { authorization: `Bearer ${(await mintToken(stateDir, record, { ...request, role: "default" })).token}` };
}

type Signing = {
  readonly claims: Readonly<Record<string, string>>;
  readonly typ: string;
  readonly expiresAt: Date;
  readonly record: DeploymentRecord;
};

async function signed(key: PrivateKey, { claims, typ, expiresAt, record }: Signing): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ, kid: key.kid })
    .setAudience(String(record.deployment_id))
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(await importJWK({ kty: key.kty, crv: key.crv, x: key.x, d: key.d }, TOKEN_ALGORITHM));
}

function earliest(asked: Date, { expires_at }: DeploymentRecord): Date {
  const ends = expires_at === null ? null : new Date(expires_at);
  return ends !== null && ends < asked ? ends : asked;
}

async function keyOf(stateDir: string, record: DeploymentRecord): Promise<PrivateKey> {
  const id = String(record.deployment_id);
  const key = await readKey(stateDir, id);
  if (key !== null && (record.auth.keys ?? []).some(({ kid }) => kid === key.kid)) return key;
  throw new UserError({
    what: `${id}: its tokens can't be signed here`,
    why: key === null ? "this state folder has no key of it" : "the key in this state folder is none of its record's",
    next: "set AGENT_ENV_STATE_DIR to the state folder that it was deployed with",
  });
}
