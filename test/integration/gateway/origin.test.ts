import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PING, post, raw, rawTo } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { bearer, newSigner, type Signer } from "../../fixtures/gateway/tokens.ts";
import { startWorkerHost } from "../../fixtures/gateway/worker-host.ts";

const UI = "https://ui.example";

afterAll(endHosts);

describe.each(HOSTS)("browsers at an open deployment on the $host host", ({ host, start }) => {
  let plain: RunningGateway;
  let withSite: RunningGateway;
  let items: McpFixture;
  let shop: Recorder;
  let signer: Signer;
  beforeAll(async () => {
    signer = await newSigner();
    items = await mcpFixture({ name: "items", tools: [[{ name: "items_say" }, () => text("said")]] });
    shop = await recorder();
    const server = { name: "items", kind: "mcp" as const, url: items.url };
    const settings = { GATEWAY_ALLOWED_ORIGINS: UI };
    plain = await start({ record: { servers: [server] }, settings });
    withSite = await start({
      record: (deployment) => ({
        auth: { mode: "open", keys: [signer.jwk] },
        servers: [server, { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url, label: `shop--${deployment}` }],
      }),
      settings,
    });
  });
  afterAll(async () => {
    await Promise.all([plain.stop(), withSite.stop()]);
    await Promise.all([items.close(), shop.close()]);
  });
  const own = (gateway: RunningGateway) => `http://127.0.0.1:${gateway.port}`;

  test("F42 N4 what other origins' pages ask is 403, at every route, and no answer lets them read it", async () => {
    const sibling = `http://shop--${withSite.deployment}.localhost:${withSite.port}`;
    for (const origin of ["https://evil.example", "null", `http://127.0.0.1:${plain.port + 1}`, `http://localhost:${plain.port}`, sibling])
      for (const path of ["/mcp", "/step", "/state", "/tools/disable", "/clock/clear", "/agentenv", "/svc/mcp-items/x"]) {
        const answer = await post(withSite, path, PING, { origin });
        expect([origin, path, answer.status, answer.header("access-control-allow-origin")]).toEqual([origin, path, 403, undefined]);
      }
    const refused = await post(withSite, "/mcp", PING, { origin: "https://evil.example" });
    expect([refused.json(), refused.header("vary"), refused.header("access-control-expose-headers")]).toEqual([
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "this Origin may not call this route" } },
      "Origin",
      "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate",
    ]);
  });

  test("F42 exposed headers are on every answer of /mcp, errors too", async () => {
    const exposed = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate";
    const long = `/mcp?${"x".repeat(9_000)}`;
    const answers = [
      await post(withSite, "/mcp", PING, { origin: UI }),
      await post(withSite, "/mcp", "{", { origin: UI }),
      await raw(withSite, "/mcp", { method: "PUT", headers: { origin: UI } }),
      await post(withSite, long, PING, { origin: UI }),
      await post(withSite, "/mcp/", PING, { origin: UI, "agentenv-hops": "8" }),
      await post(withSite, "/mcp", PING, { origin: UI, host: "evil.example" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 405, 414, 508, 403]);
    // on Workers a foreign Host is refused before a deployment is known
    for (const answer of host === "node" ? answers : answers.slice(0, -1))
      expect([
        answer.status,
        answer.header("access-control-expose-headers"),
        answer.header("vary"),
        answer.header("access-control-allow-origin"),
      ]).toEqual([answer.status, exposed, "Origin", UI]);
  });

  test("N4 the host of a site is no allowed origin, whoever lists it", async () => {
    const site = { name: "shop", kind: "website" as const, url: shop.url, frontend_url: shop.url };
    const listed = await start({
      record: { servers: [{ ...site, label: "shop--listed" }] },
      settings: { GATEWAY_ALLOWED_ORIGINS: "http://shop--listed.localhost" },
    });
    expect((await post(listed, "/mcp", PING, { origin: "http://shop--listed.localhost" })).status).toBe(403);
    await listed.stop();
  });

  test("F42 a preflight is answered for allowed origins alone, without credentials", async () => {
    const ask = (origin: string, path = "/mcp") =>
      raw(withSite, path, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });
    const allowed = await ask(UI);
    expect([allowed.status, allowed.headers.filter(([name]) => name.startsWith("access-control") || name === "vary").sort()]).toEqual([
      204,
      [
        [
          "access-control-allow-headers",
          "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, AgentEnv-Role",
        ],
        ["access-control-allow-methods", "GET, POST, DELETE"],
        ["access-control-allow-origin", UI],
        ["access-control-expose-headers", "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"],
        ["access-control-max-age", "86400"],
        ["vary", "Origin"],
      ],
    ]);
    const foreign = await ask("https://evil.example");
    expect([foreign.status, foreign.header("access-control-allow-origin"), foreign.header("access-control-allow-methods")]).toEqual([
      403,
      undefined,
      undefined,
    ]);
  });

  test("N4 an allowed origin may call, and read the answer", async () => {
    const answer = await post(withSite, "/mcp", PING, { origin: UI, "sec-fetch-site": "cross-site" });
    expect([answer.status, answer.header("access-control-allow-origin")]).toEqual([200, UI]);
  });

  test("N4 where a site shares the origin a browser needs a token, in open mode too, and a program doesn't", async () => {
    const token = await signer.sign({ aud: withSite.deployment, scope: "tools" });
    const bad = await signer.sign({ aud: "another-dep0", scope: "tools" });
    for (const headers of [{ origin: own(withSite) }, { "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }] as Record<
      string,
      string
    >[])
      for (const path of [
        "/mcp",
        "/step",
        "/state",
        "/trajectory",
        "/clock/time",
        "/svc/shop/x",
        "/svc/mcp-items/mcp",
        "/.well-known/agent-env.json",
      ]) {
        const statuses = [
          await raw(withSite, path, { headers }),
          await raw(withSite, path, { headers: { ...headers, ...bearer(bad) } }),
          await raw(withSite, path, { headers: { ...headers, authorization: "Bearer somebody-elses" } }),
        ].map(({ status }) => status);
        expect([headers, path, statuses]).toEqual([headers, path, [401, 401, 401]]);
      }
    const said = await post(withSite, "/mcp", PING, { origin: own(withSite), ...bearer(token) });
    expect([said.status, (await post(withSite, "/mcp", PING)).status]).toEqual([200, 200]);
    for (const path of ["/website/shop/x", "/health"])
      expect((await raw(withSite, path, { headers: { origin: own(withSite), "sec-fetch-site": "same-origin" } })).status).toBe(200);
  });

  test("N4 where other deployments share the origin their sites may be behind a browser's request", async () => {
    const fromBrowser = { "sec-fetch-site": "same-origin" };
    expect((await post(plain, "/mcp", PING, fromBrowser)).status).toBe(host === "node" ? 200 : 401);
    if (host === "node") return;
    const alone = { host: `${plain.deployment}.localhost:${plain.port}`, "content-type": "application/json", ...fromBrowser };
    expect((await rawTo(plain.port, "/mcp", { method: "POST", headers: alone, body: JSON.stringify(PING) })).status).toBe(200);
  });

  test("a Host that isn't ours is 403 at every route, sites too, before anything else", async () => {
    const { prefix, port, deployment } = withSite;
    for (const bad of [
      "evil.example",
      `shop--${deployment}.localhost.evil.example`,
      "10.0.0.1",
      `gateway.evil.example:${port}`,
      "127.0.0.1.evil.example",
    ])
      for (const path of ["/mcp", "/state", "/health", "/website/shop/x", "/svc/shop/x", "/nope"])
        expect([bad, path, (await rawTo(port, prefix + path, { headers: { host: bad } })).status]).toEqual([bad, path, 403]);
  });

  test("N4 an open deployment ignores that a token claims another role: the header counts, and the token goes nowhere", async () => {
    const token = await signer.sign({ aud: withSite.deployment, scope: "svc", role: "admin" });
    await raw(withSite, "/svc/shop/open", { headers: { ...bearer(token), "agentenv-role": "clerk" } });
    const got = shop.received.at(-1)?.headers ?? [];
    expect(got.filter(([name]) => ["authorization", "agentenv-role"].includes(name))).toEqual([["agentenv-role", "clerk"]]);
  });
});

test("N4 an open deployment is not served to who comes from elsewhere, where the platform says who comes", async () => {
  const open = await startWorkerHost({ record: { servers: [] } });
  const ask = async (headers: Record<string, string>) => {
    const { status, json } = await raw(open, "/health", { headers });
    return [status, json()];
  };
  expect(await ask({ "cf-connecting-ip": "203.0.113.9" })).toEqual([
    403,
    { error: "a deployment without tokens is served on its own machine only" },
  ]);
  expect(await ask({ "cf-connecting-ip": "::1" })).toEqual([200, { status: "ok" }]);
  await open.stop();
});
