import { createHmac, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { PRESETS, type Preset } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JSON_HEADERS, PING, post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RecordInput, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { bearer, newSigner, pageToken, type Signer } from "../../fixtures/gateway/tokens.ts";
import { until } from "../../fixtures/until.ts";

const CARD_PATH = "/.well-known/agent-env.json";
const call = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } });
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const seconds = () => Math.floor(Date.now() / 1000);
const base64url = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

afterAll(endHosts);

describe.each(HOSTS)("callers with tokens on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let items: McpFixture;
  let shop: Recorder;
  let signer: Signer;
  let older: Signer;
  let record: RecordInput;

  beforeAll(async () => {
    [signer, older] = [await newSigner(), await newSigner()];
    const counts = new Map<string | undefined, number>();
    items = await mcpFixture({
      name: "items",
      tools: [
        [{ name: "items_role", inputSchema: { type: "object" } }, ({ meta }) => text(JSON.stringify(meta))],
        [
          { name: "items_count", inputSchema: { type: "object" } },
          ({ session }) => {
            counts.set(session, (counts.get(session) ?? 0) + 1);
            return text(String(counts.get(session)));
          },
        ],
      ],
    });
    shop = await recorder();
    record = {
      auth: { mode: "token", keys: [older.jwk, signer.jwk] },
      servers: [
        { name: "items", kind: "mcp", url: items.url },
        { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url },
      ],
    };
    gateway = await start({ record });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([items.close(), shop.close()]);
  });
  const token = (claims: Record<string, unknown> = {}) => signer.sign({ aud: gateway.deployment, scope: "tools", ...claims });
  const preset = (name: Preset, claims: Record<string, unknown> = {}) => token({ scope: PRESETS[name].join(" "), ...claims });
  const statusOf = async (bad: string) => (await post(gateway, "/mcp", PING, bearer(bad))).status;

  const ROUTES: readonly [method: string, path: string, scope: string][] = [
    ["POST", "/mcp", "tools"],
    ["GET", "/mcp", "tools"],
    ["DELETE", "/mcp", "tools"],
    ["POST", "/mcp/", "tools"],
    ["POST", "/step", "tools"],
    ["GET", "/state", "read"],
    ["GET", "/trajectory", "read"],
    ["GET", "/changes", "read"],
    ["GET", "/clock/time", "read"],
    ["POST", "/agentenv", "control"],
    ["POST", "/tools/disable", "control"],
    ["POST", "/tools/enable", "control"],
    ["PUT", "/clock/set-time", "control"],
    ["POST", "/clock/clear", "control"],
    ["GET", "/clock/state", "control"],
    ["POST", "/triggers/register", "control"],
    ["POST", "/triggers/remove", "control"],
    ["POST", "/triggers/clear", "control"],
    ["GET", "/triggers/state", "control"],
    ["GET", "/svc/shop/x", "svc:shop"],
    ["POST", "/svc/mcp-items/mcp", "svc:mcp-items"],
    ["GET", "/svc/nope/x", "svc:nope"],
    ["GET", "/website/shop", "sites"],
    ["GET", "/website/shop/x", "sites"],
    ["GET", "/website/nope/x", "sites"],
    ["GET", CARD_PATH, ""],
  ];

  test.each(ROUTES)("N4 %s %s needs a token, and one with the scope %j", async (method, path, scope) => {
    const before = shop.received.length + items.received.length;
    const ask = async (headers: Record<string, string>) =>
      raw(gateway, path, { method, headers: { ...JSON_HEADERS, ...headers }, ...(method === "POST" ? { body: "{}" } : {}) });
    const without = await ask({});
    const errorOf = (answer: { json(): unknown }) => (answer.json() as { error: string | { message: string } }).error;
    const textOf = (answer: { json(): unknown }) => {
      const error = errorOf(answer);
      return typeof error === "string" ? error : error.message;
    };
    const said =
      scope === "sites" ? "this page opens by a link: agent-env gateway token --page prints one" : "a bearer token is needed here";
    expect([without.status, without.header("www-authenticate"), textOf(without)]).toEqual([401, "Bearer", said]);
    if (scope !== "") {
      const others = ["tools", "sites", "svc:other", "read", "control", "act-as"].filter((other) => other !== scope);
      const wrong = await ask(bearer(await token({ scope: others.join(" ") })));
      expect([wrong.status, wrong.header("www-authenticate"), textOf(wrong)]).toEqual([
        403,
        `Bearer error="insufficient_scope", scope="${scope}"`,
        `the token has no scope for this: ${scope}`,
      ]);
    }
    expect(shop.received.length + items.received.length).toBe(before);
    expect([401, 403]).not.toContain((await ask(bearer(await token({ scope })))).status);
  });

  test("N4 svc opens every raw API, and no token opens health's routes or tells of routes that there aren't", async () => {
    expect((await raw(gateway, "/svc/shop/x", { headers: bearer(await token({ scope: "svc" })) })).status).toBe(200);
    for (const path of ["/health", "/ready"]) expect((await raw(gateway, path)).status).toBe(200);
    for (const path of ["/", "/nope", "/%73tate", "/State", "//state", "/.well-known/oauth-protected-resource"])
      expect([path, (await raw(gateway, path)).status]).toEqual([path, 404]);
  });

  test("N4 an agent's token calls tools and opens pages, and reaches nothing else", async () => {
    const headers = bearer(await preset("agent"));
    const reached = await Promise.all(
      ROUTES.map(async ([method, path]) => {
        const body = method === "POST" ? { body: "{}" } : {};
        const { status } = await raw(gateway, path, { method, headers: { ...JSON_HEADERS, ...headers }, ...body });
        return status === 403 ? [] : [path];
      }),
    );
    expect([...new Set(reached.flat())].sort()).toEqual([
      CARD_PATH,
      "/mcp",
      "/mcp/",
      "/step",
      "/website/nope/x",
      "/website/shop",
      "/website/shop/x",
    ]);
  });

  test("N4 either of a record's keys signs, and a token that is taken twice is good twice", async () => {
    const good = await token();
    expect([await statusOf(good), await statusOf(good)]).toEqual([200, 200]);
    expect(await statusOf(await older.sign({ aud: gateway.deployment, scope: "tools" }))).toBe(200);
  });

  test("N4 no forged, foreign or expired token is taken", async () => {
    const stranger = await newSigner();
    const claims = { sub: "a", role: "admin", scope: "tools control", aud: gateway.deployment, exp: seconds() + 600 };
    const good = await token();
    const [head = "", body = "", signature = ""] = good.split(".");
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const kid = String(signer.jwk["kid"]);
    const signedInput = (header: object) => `${base64url(header)}.${base64url(claims)}`;
    const hmac = signedInput({ alg: "HS256", typ: "agent-env+jwt", kid });
    const rs = signedInput({ alg: "RS256", typ: "agent-env+jwt", kid });
    const forged: Record<string, string> = {
      nonsense: "x",
      "three dots": "a.b.c",
      empty: "..",
      "another key": await stranger.sign(claims),
      "another key under a known id": await stranger.sign(claims, { kid }),
      "a key that the token brings": await stranger.sign(claims, { jwk: stranger.jwk as never }),
      "a key at an address": await stranger.sign(claims, { jku: `${shop.url}/jwks`, kid: "new" }),
      "no key id": await signer.sign(claims, { kid: undefined as never }),
      "the other key's id": await signer.sign(claims, { kid: String(older.jwk["kid"]) }),
      "no algorithm": `${signedInput({ alg: "none", typ: "agent-env+jwt", kid })}.`,
      "no algorithm, a signature": `${signedInput({ alg: "none", typ: "agent-env+jwt", kid })}.${signature}`,
      "the public key as a secret": `${hmac}.${createHmac("sha256", String(signer.jwk["x"])).update(hmac).digest("base64url")}`,
      "an RSA key": `${rs}.${signBytes("sha256", Buffer.from(rs), rsa.privateKey).toString("base64url")}`,
      "another body": `${head}.${base64url(claims)}.${signature}`,
      "another signature": `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      "another deployment": await token({ aud: "another-dep0" }),
      "several deployments": await token({ aud: [gateway.deployment, "another-dep0"] }),
      "no deployment": await token({ aud: undefined }),
      "no caller": await token({ sub: undefined }),
      "no role": await token({ role: undefined }),
      "a role that is a header": await token({ role: "a\r\nx: y" }),
      "no scope": await token({ scope: undefined }),
      "no expiry": await token({ exp: undefined }),
      "not yet": await token({ nbf: seconds() + 60 }),
      "no type": await signer.sign({ ...claims }, { typ: undefined as never }),
      "another type": await signer.sign({ ...claims }, { typ: "JWT" }),
      "a page's token": await pageToken(signer, { aud: gateway.deployment, scope: "tools sites" }),
      "too long": await token({ pad: "x".repeat(5_000) }),
    };
    for (const [name, bad] of Object.entries(forged)) {
      const answer = await post(gateway, "/mcp", PING, bearer(bad));
      const { error } = answer.json() as { error: { message: string } };
      expect([name, answer.status, answer.header("www-authenticate"), error.message]).toEqual([
        name,
        401,
        'Bearer error="invalid_token"',
        "the token is not valid here",
      ]);
    }
    const expired = await post(gateway, "/mcp", PING, bearer(await token({ exp: seconds() - 60 })));
    expect([expired.status, expired.json()]).toEqual([
      401,
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "the token has expired" } },
    ]);
    expect(await statusOf(await token({ exp: seconds() - 2 }))).toBe(200);
  });

  test("N4 a token that was good expires, remembered or not", async () => {
    const short = await token({ exp: seconds() - 3 });
    expect(await statusOf(short)).toBe(200);
    await until("it has expired", 10_000, async () => (await statusOf(short)) === 401);
  });

  test("N4 two tokens at once, or another scheme, are none", async () => {
    const [one, two] = [await token(), await token({ sub: "other" })];
    const ask = async (authorization: string | string[]) => {
      const headers = Array.isArray(authorization)
        ? [
            ...Object.entries(JSON_HEADERS).flat(),
            "host",
            `127.0.0.1:${gateway.port}`,
            ...authorization.flatMap((value) => ["authorization", value]),
          ]
        : { ...JSON_HEADERS, authorization };
      return (await raw(gateway, "/mcp", { method: "POST", headers, body: JSON.stringify(PING) })).status;
    };
    expect(await ask([`Bearer ${one}`, `Bearer ${two}`])).toBe(401);
    for (const bad of [`Basic ${one}`, `Token ${one}`, one, "Bearer", "Bearer "])
      expect([bad.slice(0, 7), await ask(bad)]).toEqual([bad.slice(0, 7), 401]);
    for (const good of [`bearer ${one}`, `BEARER  ${one}`]) expect([good.slice(0, 8), await ask(good)]).toEqual([good.slice(0, 8), 200]);
  });

  const SPELLINGS: Record<string, string[]> = {
    admin: ["AgentEnv-Role", "admin"],
    "lower case": ["agentenv-role", "admin"],
    "white space": ["AgentEnv-Role", "  admin\t"],
    "behind the own one": ["AgentEnv-Role", "clerk", "AgentEnv-Role", "admin"],
    "before the own one": ["AgentEnv-Role", "admin", "AgentEnv-Role", "clerk"],
    "joined to it": ["AgentEnv-Role", "clerk, admin"],
    "the default role": ["AgentEnv-Role", "default"],
    "another case": ["AgentEnv-Role", "Clerk"],
  };
  test.each(Object.entries(SPELLINGS))("N4 G4 a token's role is its role: %s is refused", async (_name, headers) => {
    const authorization = ["authorization", `Bearer ${await token({ role: "clerk" })}`];
    const all = [...Object.entries(JSON_HEADERS).flat(), "host", `127.0.0.1:${gateway.port}`, ...authorization, ...headers];
    const answer = await raw(gateway, "/mcp", { method: "POST", headers: all, body: JSON.stringify(call("items_role")) });
    expect([answer.status, answer.json()]).toEqual([
      403,
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "the token's role is another than the one asked for" } },
    ]);
  });

  test("N4 G4 the role that reaches a tool is the token's, over /mcp, /step and /svc, or with act-as the one asked for", async () => {
    // what the server was sent last says it, whatever it answers
    const roleOf = async (body: unknown, path: string, headers: Record<string, string>) => {
      await post(gateway, path, body, headers);
      return /"agentenv\.io\/role":"(\w+)"/.exec(String(items.received.at(-1)?.body))?.[1];
    };
    const clerk = bearer(await preset("grader", { role: "clerk" }));
    const step = { action: "call_tool", tool_name: "items_role", arguments: {} };
    const claimed = { ...call("items_role"), params: { name: "items_role", arguments: {}, _meta: { "agentenv.io/role": "admin" } } };
    for (const headers of [clerk, { ...clerk, "agentenv-role": "clerk" }, { ...clerk, "agentenv-role": "" }])
      expect([
        await roleOf(claimed, "/mcp", headers),
        await roleOf(step, "/step", headers),
        await roleOf(claimed, "/svc/mcp-items/mcp", headers),
      ]).toEqual(["clerk", "clerk", "clerk"]);
    const actor = { ...bearer(await preset("orchestrator", { role: "boss" })), "agentenv-role": "admin" };
    expect([
      await roleOf(claimed, "/mcp", actor),
      await roleOf(step, "/step", actor),
      await roleOf(claimed, "/svc/mcp-items/mcp", actor),
    ]).toEqual(["admin", "admin", "admin"]);
  });

  test("F14 N4 a session of another caller is as unknown as a random one, for every method", async () => {
    const opened = async (headers: Record<string, string>) =>
      (await post(gateway, "/mcp", INITIALIZE, headers)).header("mcp-session-id") ?? "";
    const alice = bearer(await preset("orchestrator", { sub: "alice", role: "clerk" }));
    const session = { "mcp-session-id": await opened(alice) };
    const aliceAgain = bearer(await token({ sub: "alice", role: "clerk", exp: seconds() + 60 }));
    expect((await post(gateway, "/mcp", PING, { ...aliceAgain, ...session })).status).toBe(200);
    const others = {
      "another caller": bearer(await token({ sub: "bob", role: "clerk" })),
      "another role": bearer(await token({ sub: "alice", role: "admin" })),
      "acting as another": { ...alice, "agentenv-role": "admin" },
    };
    const random = await post(gateway, "/mcp", PING, { ...alice, "mcp-session-id": "1.AAAA" });
    for (const [name, headers] of Object.entries(others)) {
      const answers = [
        await post(gateway, "/mcp", PING, { ...headers, ...session }),
        await raw(gateway, "/mcp", { headers: { ...headers, ...session, accept: "text/event-stream" } }),
        await raw(gateway, "/mcp", { method: "DELETE", headers: { ...headers, ...session } }),
      ];
      expect([name, ...answers.map(({ status }) => status), answers[0]?.text]).toEqual([name, 404, 404, 404, random.text]);
    }
    expect((await raw(gateway, "/mcp", { method: "DELETE", headers: { ...alice, ...session } })).status).toBe(200);
  });

  test("F14 two callers with equal rights never share what a server keeps for one of them", async () => {
    const count = async (headers: Record<string, string>, path = "/mcp", body: unknown = call("items_count")) =>
      /"text":"(\d+)"/.exec((await post(gateway, path, body, headers)).text)?.[1];
    const [alice, bob] = [bearer(await token({ sub: "alice2" })), bearer(await token({ sub: "bob2" }))];
    const step = { action: "call_tool", tool_name: "items_count", arguments: {} };
    expect([await count(alice), await count(alice), await count(bob), await count(bob, "/step", step)]).toEqual(["1", "2", "1", "2"]);
  });

  test("a modern request has the session that its caller's token names, and none without", async () => {
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const body = { ...call("items_role"), params: { name: "items_role", arguments: {}, _meta: meta } };
    const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "items_role" };
    const sessionOf = async (headers: Record<string, string>) =>
      /agentenv\.io\/session\\":\\"([^\\]+)/.exec((await post(gateway, "/mcp", body, { ...modern, ...headers })).text)?.[1];
    expect([await sessionOf(bearer(await token({ session: "s-1" }))), await sessionOf(bearer(await token()))]).toEqual(["s-1", undefined]);
  });

  test("F49 F50 no server, answer or state ever holds a token of a caller", async () => {
    const secret = await preset("orchestrator", { sub: "secretive" });
    const marks = [secret, ...secret.split(".")];
    const headers = bearer(secret);
    const own = { authorization: "Basic c2l0ZTpvd24=" };
    const many = ["authorization", `Bearer ${secret}`, "authorization", own.authorization, "host", `127.0.0.1:${gateway.port}`];
    const answers = [
      await post(gateway, "/mcp", call("items_role"), headers),
      await post(gateway, "/mcp", call("nope"), headers),
      await post(gateway, "/step", { action: "call_tool", tool_name: "items_role", arguments: {} }, headers),
      await post(gateway, "/svc/mcp-items/mcp", call("items_role"), headers),
      await raw(gateway, "/svc/shop/x", { headers: { authorization: `bearer   ${secret}` } }),
      await raw(gateway, "/svc/shop/both", { headers: many }),
      await raw(gateway, "/website/shop/x", { headers }),
      await raw(gateway, "/website/shop/socket", {
        headers: { ...headers, connection: "Upgrade", upgrade: "websocket", "sec-websocket-key": "x", "sec-websocket-version": "13" },
      }),
      await raw(gateway, "/state", { headers }),
      await raw(gateway, "/trajectory", { headers }),
      await raw(gateway, CARD_PATH, { headers }),
      await raw(gateway, "/mcp", { method: "PUT", headers }),
    ];
    const sent = [...shop.received, ...items.received].map(
      ({ target, headers: fields, body }) => `${target}${JSON.stringify(fields)}${body}`,
    );
    const told = answers.map(({ text: body, headers: fields }) => body + JSON.stringify(fields));
    for (const mark of marks) expect([...sent, ...told].filter((one) => one.includes(mark))).toEqual([]);
    const both = shop.received.find(({ target }) => target === "/both");
    expect(both?.headers.filter(([name]) => name === "authorization").map(([, value]) => value.trim())).toEqual([own.authorization]);
  });

  test("N4 servers read the time by a key in the address that they are given, which opens nothing else", async () => {
    const control = bearer(await preset("orchestrator"));
    const armed = { method: "PUT", headers: { ...control, ...JSON_HEADERS }, body: '{"virtual_time":"2026-03-01T09:00:00Z"}' };
    expect((await raw(gateway, "/clock/set-time", armed)).status).toBe(200);
    const { env_get_time_url: given } = (await raw(gateway, "/clock/state", { headers: control })).json() as { env_get_time_url: string };
    const { search } = new URL(given);
    const status = async (path: string, method = "GET") => (await raw(gateway, path, { method })).status;
    expect([await status(`/clock/time${search}`), await status(`/clock/time${search}`, "HEAD"), await status("/clock/time")]).toEqual([
      200, 200, 401,
    ]);
    for (const path of ["/clock/state", "/state", "/trajectory", "/svc/shop/x"])
      expect([path, await status(path + search)]).toEqual([path, 401]);
    expect(await status(`/clock/time${search}`, "POST")).toBe(401);
    const opened = await post(gateway, "/mcp", INITIALIZE, bearer(await token()));
    for (const other of ["", "x", "1.AAAA", `${search.slice(5, -4)}AAAA`, opened.header("mcp-session-id") ?? ""])
      expect([other, await status(`/clock/time?key=${other}`)]).toEqual([other, 401]);
    expect((await raw(gateway, "/clock/clear", { method: "POST", headers: control })).status).toBe(200);
  });

  test("N4 a key that is taken out of the record opens nothing any more, and a new one does", async () => {
    const next = await newSigner();
    const rotating = await start({ record: { ...record, auth: { mode: "token", keys: [signer.jwk] } }, restarts: true });
    const tokenOf = (by: Signer) => by.sign({ aud: rotating.deployment, scope: "tools", sub: "alice" });
    const ask = async (by: Signer, more = {}) => (await post(rotating, "/mcp", PING, { ...bearer(await tokenOf(by)), ...more })).status;
    const opened = await post(rotating, "/mcp", INITIALIZE, bearer(await tokenOf(signer)));
    const session = { "mcp-session-id": opened.header("mcp-session-id") ?? "" };
    expect([await ask(signer), await ask(next)]).toEqual([200, 401]);
    await rotating.revise({ ...record, auth: { mode: "token", keys: [signer.jwk, next.jwk] } });
    await until("the new key is known", 15_000, async () => (await ask(next)) === 200);
    expect([await ask(signer), await ask(next, session)]).toEqual([200, 200]);
    await rotating.revise({ ...record, auth: { mode: "token", keys: [next.jwk] } });
    await until("the old key is forgotten", 15_000, async () => (await ask(signer)) === 401);
    expect(await ask(next, session)).toBe(200);
    await rotating.stop();
  });

  test("N4 a record without a usable key lets nobody in", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
    const keys = [{}, { ...rsa, kid: "rsa" }, { kty: "OKP", crv: "Ed25519", x: "short", kid: "s" }, { ...signer.jwk, kid: undefined }];
    const closed = await start({ record: { ...record, auth: { mode: "token", keys } } });
    const mine = await signer.sign({ aud: closed.deployment, scope: "tools" });
    expect((await post(closed, "/mcp", PING, bearer(mine))).status).toBe(401);
    expect((await raw(closed, "/health")).status).toBe(200);
    await closed.stop();
  });
});
