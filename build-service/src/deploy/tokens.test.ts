import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeploymentRecord, UserError } from "@agent-env/protocol";
import { importJWK, jwtVerify } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drawKey, forgetKey, readKey } from "./keys.ts";
import { authorization, mintToken, pageLink } from "./tokens.ts";

let stateDir = "";
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "agent-env-tokens-"));
});
afterEach(() => rm(stateDir, { recursive: true }));

const CALLER = { caller: "someone", role: "clerk" };

async function deployed(more: Record<string, unknown> = {}): Promise<DeploymentRecord> {
  const key = await drawKey(stateDir, "shop-abcd1234");
  return DeploymentRecord.parse({
    deployment_id: "shop-abcd1234",
    name: "shop",
    auth: { mode: "token", keys: [key] },
    servers: [],
    website_frontend_urls: { shop: "http://localhost:20001/website/shop/" },
    ...more,
  });
}

async function readBack(record: DeploymentRecord, token: string) {
  const [key] = record.auth.keys ?? [];
  return jwtVerify(token, await importJWK(key ?? {}, "EdDSA"), { audience: "shop-abcd1234" });
}

test("N4 the private key lies in the state folder, for its owner alone, and the record holds the public one", async () => {
  const record = await deployed();
  const folder = join(stateDir, "keys");
  const file = join(folder, "shop-abcd1234.json");
  expect([(await stat(folder)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
  const key = await readKey(stateDir, "shop-abcd1234");
  expect(record.auth.keys).toEqual([{ kty: "OKP", crv: "Ed25519", x: key?.x, kid: key?.kid }]);
  expect(JSON.stringify(record)).not.toContain(key?.d);
  await forgetKey(stateDir, "shop-abcd1234");
  await forgetKey(stateDir, "shop-abcd1234");
  expect([await readdir(folder), await readKey(stateDir, "shop-abcd1234")]).toEqual([[], null]);
});

test("N4 a token names its deployment, caller, role and the scopes of its preset, and the key that signed it", async () => {
  const record = await deployed();
  const { token, expiresAt } = await mintToken(stateDir, record, { ...CALLER, preset: "grader", ttlSeconds: 60 });
  const { payload, protectedHeader } = await readBack(record, token);
  expect([payload, protectedHeader]).toEqual([
    {
      aud: "shop-abcd1234",
      sub: "someone",
      role: "clerk",
      scope: "tools sites svc read",
      iat: expect.any(Number),
      exp: Math.floor(expiresAt.getTime() / 1000),
    },
    { alg: "EdDSA", typ: "agent-env+jwt", kid: record.auth.keys?.[0]?.["kid"] },
  ]);
  expect(Math.abs(expiresAt.getTime() - Date.now() - 60_000)).toBeLessThan(5_000);
});

test("N4 no token outlives its deployment", async () => {
  const expires_at = new Date(Date.now() + 30_000).toISOString();
  const record = await deployed({ expires_at });
  const { expiresAt } = await mintToken(stateDir, record, { ...CALLER, preset: "agent", ttlSeconds: 3_600 });
  const link = await pageLink(stateDir, record, { ...CALLER, site: "shop" });
  expect([expiresAt.toISOString(), link.expiresAt?.toISOString()]).toEqual([expires_at, expires_at]);
});

test("N4 a page's link opens that site for five minutes at most, and is another one each time", async () => {
  const record = await deployed();
  const links = await Promise.all([1, 2].map(() => pageLink(stateDir, record, { ...CALLER, site: "shop" })));
  const read = await Promise.all(
    links.map(async ({ url }) => {
      expect(url.startsWith("http://localhost:20001/website/shop/?agentenv_page=")).toBe(true);
      return readBack(record, new URL(url).searchParams.get("agentenv_page") ?? "");
    }),
  );
  const shown = read.map(({ payload, protectedHeader }) => [
    protectedHeader.typ,
    payload["scope"],
    Number(payload.exp) - Number(payload.iat),
  ]);
  expect(shown[0]).toEqual(["agent-env-page+jwt", "sites", 300]);
  expect(new Set(read.map(({ payload: { jti } }) => jti)).size).toBe(2);
});

test("an open deployment asks for nothing, and its page needs no token", async () => {
  const record = await deployed({ auth: { mode: "open" } });
  expect(await authorization(stateDir, record, { caller: "steps", preset: "orchestrator", ttlSeconds: 60 })).toEqual({});
  expect(await pageLink(stateDir, record, { ...CALLER, site: "shop" })).toEqual({
    url: "http://localhost:20001/website/shop/",
    expiresAt: null,
  });
});

test.each<[string, () => Promise<unknown>, { what: string; why: string; next: string }]>([
  [
    "a site that isn't there",
    async () => pageLink(stateDir, await deployed(), { ...CALLER, site: "constructor" }),
    { what: '--page "constructor": shop-abcd1234 has no such site', why: "its sites are shop", next: "name one of them" },
  ],
  [
    "a deployment without sites",
    async () => pageLink(stateDir, await deployed({ website_frontend_urls: {} }), { ...CALLER, site: "shop" }),
    { what: '--page "shop": shop-abcd1234 has no such site', why: "it has no sites", next: "leave --page out for a token" },
  ],
  [
    "a deployment of another state folder",
    async () => {
      const record = await deployed();
      await forgetKey(stateDir, "shop-abcd1234");
      return mintToken(stateDir, record, { ...CALLER, preset: "agent", ttlSeconds: 60 });
    },
    {
      what: "shop-abcd1234: its tokens can't be signed here",
      why: "this state folder has no key of it",
      next: "set AGENT_ENV_STATE_DIR to the state folder that it was deployed with",
    },
  ],
  [
    "a record with other keys",
    async () => mintToken(stateDir, await deployed({ auth: { mode: "token", keys: [] } }), { ...CALLER, preset: "agent", ttlSeconds: 60 }),
    {
      what: "shop-abcd1234: its tokens can't be signed here",
      why: "the key in this state folder is none of its record's",
      next: "set AGENT_ENV_STATE_DIR to the state folder that it was deployed with",
    },
  ],
])("%s is refused", async (_name, refused, { what, why, next }) => {
  const error = await refused().catch((reason: unknown) => reason);
  expect(error instanceof UserError ? [error.message, error.why, error.next] : error).toEqual([what, why, next]);
});
