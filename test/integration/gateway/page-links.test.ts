import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PING, post, type RawRequest, raw, rawTo } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { bearer, newSigner, pageToken, type Signer } from "../../fixtures/gateway/tokens.ts";
import { until } from "../../fixtures/until.ts";

const seconds = () => Math.floor(Date.now() / 1000);

afterAll(endHosts);

describe.each(HOSTS)("pages of a deployment with tokens on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let shop: Recorder;
  let signer: Signer;
  beforeAll(async () => {
    signer = await newSigner();
    shop = await recorder({
      answer: (request, response) => {
        if (request.url === "/sets")
          return void response
            .writeHead(200, ["set-cookie", "own=1; Path=/", ...COOKIES.flatMap((cookie) => ["set-cookie", cookie])])
            .end();
        return void response.writeHead(200, { "content-type": "text/plain" }).end(`page of ${request.headers["agentenv-role"]}`);
      },
    });
    gateway = await start({
      record: (deployment) => ({
        auth: { mode: "token", keys: [signer.jwk] },
        servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url, label: `shop--${deployment}` }],
      }),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await shop.close();
  });
  beforeEach(() => {
    shop.received.length = 0;
  });
  const COOKIES = [
    "agentenv_page.x=evil; Path=/",
    " agentenv_pages.x=evil",
    "=agentenv_page.x=evil; Path=/",
    "agentenv_page=; Max-Age=0",
    "agentenv_page.x",
  ];
  const link = (claims: Record<string, unknown> = {}) => pageToken(signer, { aud: gateway.deployment, ...claims });
  const siteHost = () => `shop--${gateway.deployment}.localhost:${gateway.port}`;
  const onOwnHost = (path: string, request: RawRequest = {}) =>
    rawTo(gateway.port, path, { ...request, headers: { host: siteHost(), ...(request.headers as Record<string, string>) } });
  const cookieOf = (answer: { header(name: string): string | undefined }) => (answer.header("set-cookie") ?? "").split(";")[0] ?? "";
  const opened = async (claims: Record<string, unknown> = {}) =>
    cookieOf(await raw(gateway, `/website/shop/?agentenv_page=${await link(claims)}`));
  const page = async (headers: Record<string, string>, path = "/website/shop/x") => (await raw(gateway, path, { headers })).status;

  test("N4 a link is answered 303 to the page without it, with a cookie that opens the site's pages", async () => {
    const path = "/website/shop/a%2Fb?x=1&agentenv_page=TOKEN&y=%20&x=2".replace("TOKEN", await link({ role: "clerk" }));
    const answer = await raw(gateway, path);
    expect([
      answer.status,
      answer.header("location"),
      answer.header("cache-control"),
      answer.header("referrer-policy"),
      answer.text,
    ]).toEqual([303, `${gateway.prefix}/website/shop/a%2Fb?x=1&y=%20&x=2`, "no-store", "no-referrer", ""]);
    const set = answer.header("set-cookie") ?? "";
    expect(set.replace(/=1\.[\w-]+;/, "=SEALED;")).toBe(
      `agentenv_pages.${gateway.deployment}=SEALED; Path=${gateway.prefix}/website/; Max-Age=43200; HttpOnly; SameSite=Strict`,
    );
    expect(shop.received).toEqual([]);
    const shown = await raw(gateway, "/website/shop/x", { headers: { cookie: `a=1; ${cookieOf(answer)}; b=2` } });
    expect([shown.status, shown.text]).toEqual([200, "page of clerk"]);
    expect(shop.received[0]?.headers.find(([name]) => name === "cookie")?.[1]).toBe("a=1; b=2");
  });

  test("N4 on a host of its own a site has a cookie of another name, for that host alone", async () => {
    const answer = await onOwnHost(`//x/?agentenv_page=${await link()}`);
    expect([answer.status, answer.header("location")]).toEqual([303, "/.//x/"]);
    expect((answer.header("set-cookie") ?? "").replace(/=1\.[\w-]+;/, "=SEALED;")).toBe(
      `agentenv_page.${gateway.deployment}=SEALED; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict`,
    );
    expect([(await onOwnHost("/x", { headers: { cookie: cookieOf(answer) } })).status, (await onOwnHost("/x")).status]).toEqual([200, 401]);
    expect([await page({ cookie: cookieOf(answer) }), (await onOwnHost("/x", { headers: { cookie: await opened() } })).status]).toEqual([
      401, 401,
    ]);
  });

  test("N4 a link opens once, whatever comes at the same time, and after a restart too", async () => {
    const token = await link();
    const answers = await Promise.all(Array.from({ length: 8 }, () => raw(gateway, `/website/shop/?agentenv_page=${token}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401, 401, 401, 401]);
    const again = await raw(gateway, `/website/shop/?agentenv_page=${token}`);
    expect(again.json()).toEqual({ error: "this link was used before: agent-env gateway token --page prints another" });

    const restarted = await start({
      record: {
        auth: { mode: "token", keys: [signer.jwk] },
        servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url }],
      },
      restarts: true,
    });
    const once = await pageToken(signer, { aud: restarted.deployment });
    const cookie = cookieOf(await raw(restarted, `/website/shop/?agentenv_page=${once}`));
    await restarted.restart();
    expect((await raw(restarted, `/website/shop/?agentenv_page=${once}`)).status).toBe(401);
    expect((await raw(restarted, "/website/shop/x", { headers: { cookie } })).status).toBe(200);
    // another deployment's cookie opens nothing here
    expect(await page({ cookie: cookie.replace(restarted.deployment, gateway.deployment) })).toBe(401);
    await restarted.stop();
  });

  test("N4 a link by another method is not used up, and no link opens anything but pages", async () => {
    const token = await link();
    for (const method of ["HEAD", "POST", "OPTIONS"])
      expect([method, (await raw(gateway, `/website/shop/?agentenv_page=${token}`, { method })).status]).toEqual([method, 401]);
    for (const path of ["/mcp", "/state", "/svc/shop/x", "/step"])
      expect([path, (await raw(gateway, `${path}?agentenv_page=${token}`)).status]).toEqual([path, 401]);
    expect(await page(bearer(token))).toBe(401);
    expect((await raw(gateway, `/website/shop/?agentenv%5Fpage=${token}`)).status).toBe(303);
  });

  test("N4 a forged, foreign, expired or long-lived link opens nothing, and is not passed on", async () => {
    const stranger = await newSigner();
    const bad = {
      "another key": await pageToken(stranger, { aud: gateway.deployment }),
      "another deployment": await link({ aud: "another-dep0" }),
      "no number": await link({ jti: undefined }),
      "valid for longer": await link({ exp: seconds() + 400 }),
      "a caller's token": await signer.sign({ aud: gateway.deployment, scope: "sites", jti: "x" }),
      nonsense: "x",
      empty: "",
    };
    for (const [name, token] of Object.entries(bad)) {
      const answer = await raw(gateway, `/website/shop/?agentenv_page=${token}`);
      expect([name, answer.status, answer.json()]).toEqual([name, 401, { error: "the token is not valid here" }]);
    }
    const old = await raw(gateway, `/website/shop/?agentenv_page=${await link({ iat: seconds() - 200, exp: seconds() - 60 })}`);
    expect([old.status, old.json()]).toEqual([401, { error: "the token has expired" }]);
    const tools = await raw(gateway, `/website/shop/?agentenv_page=${await link({ scope: "tools control" })}`);
    expect([tools.status, tools.json()]).toEqual([403, { error: "the token has no scope for this: sites" }]);
    expect(shop.received).toEqual([]);
  });

  test("N4 the cookie opens pages and nothing else", async () => {
    const cookie = await opened();
    const names = [`agentenv_page.${gateway.deployment}`, `agentenv_pages.${gateway.deployment}`];
    const value = cookie.slice(cookie.indexOf("=") + 1);
    const headers = { cookie: names.map((name) => `${name}=${value}`).join("; ") };
    for (const path of [
      "/mcp",
      "/step",
      "/state",
      "/svc/shop/x",
      "/trajectory",
      "/tools/disable",
      "/.well-known/agent-env.json",
      "/agentenv",
    ])
      expect([path, (await raw(gateway, path, { method: "POST", headers, body: "{}" })).status]).toEqual([path, 401]);
    expect((await post(gateway, "/mcp", PING, bearer(value))).status).toBe(401);
    expect(
      (
        await post(gateway, "/mcp", PING, {
          ...bearer(await signer.sign({ aud: gateway.deployment, scope: "tools" })),
          "mcp-session-id": value,
        })
      ).status,
    ).toBe(404);
  });

  test("N4 a changed cookie opens nothing, and one that a page has set beside it takes nothing away", async () => {
    const cookie = await opened();
    const name = cookie.slice(0, cookie.indexOf("="));
    const changed = cookie.slice(0, -2) + (cookie.endsWith("AA") ? "BB" : "AA");
    for (const bad of [changed, `${name}=`, `${name}=1.AAAA`, `${name}=x; ${name}=y`, cookie.replace("=", "=x"), cookie.toUpperCase()])
      expect([bad.length, await page({ cookie: bad })]).toEqual([bad.length, 401]);
    expect(await page({ cookie: `${name}=evil; ${cookie}` })).toBe(200);
  });

  test("N4 the cookie counts for the site's own requests, and for a page that is opened, not for another site's", async () => {
    const cookie = await opened();
    const own = `http://127.0.0.1:${gateway.port}`;
    const asked: [Record<string, string>, number][] = [
      [{ "sec-fetch-site": "same-origin", origin: own }, 200],
      [{ "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, 200],
      [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }, 200],
      [{ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }, 401],
      [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }, 401],
      [{ origin: `http://127.0.0.1:${gateway.port + 1}` }, 401],
      [{ origin: "null" }, 401],
    ];
    for (const [headers, status] of asked) expect([headers, await page({ cookie, ...headers })]).toEqual([headers, status]);
    const posted = await raw(gateway, "/website/shop/x", {
      method: "POST",
      headers: { cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    });
    expect(posted.status).toBe(401);
  });

  test("N4 G4 a page acts in its link's role", async () => {
    const cookie = await opened({ role: "clerk" });
    expect(await page({ cookie, "agentenv-role": "admin" })).toBe(403);
    await page({ cookie, "agentenv-role": "clerk" });
    expect(shop.received.map(({ headers }) => headers.filter(([name]) => name === "agentenv-role"))).toEqual([
      [["agentenv-role", "clerk"]],
    ]);
  });

  test("N4 F50 a site gets its own cookies and its own Authorization, and none of the gateway's", async () => {
    const cookie = await opened();
    const token = await signer.sign({ aud: gateway.deployment, scope: "sites" });
    const other = "agentenv_page.other-dep=1.abc";
    for (const [sent, passed] of [
      [`${cookie}`, undefined],
      [`${other}; a=1; ${cookie}`, "a=1"],
      [`a=1; ${cookie};  b="x, y"`, 'a=1; b="x, y"'],
      [`agentenv_pagex=1; ${cookie}; page=2`, "page=2"],
    ] as const) {
      shop.received.length = 0;
      await raw(gateway, "/website/shop/x", { headers: { cookie: sent, authorization: "Bearer the-sites-own" } });
      const got = shop.received[0]?.headers ?? [];
      expect([sent, got.find(([name]) => name === "cookie")?.[1], got.find(([name]) => name === "authorization")?.[1]]).toEqual([
        sent,
        passed,
        "Bearer the-sites-own",
      ]);
    }
    const asProgram = await raw(gateway, "/website/shop/x", { headers: { ...bearer(token), cookie: other } });
    expect([asProgram.status, shop.received.at(-1)?.headers.filter(([name]) => ["cookie", "authorization"].includes(name))]).toEqual([
      200,
      [],
    ]);
  });

  test("N4 no server sets a cookie of the gateway's, as a page or through /svc", async () => {
    const token = await signer.sign({ aud: gateway.deployment, scope: "sites svc" });
    for (const path of ["/website/shop/sets", "/svc/shop/sets"]) {
      const answer = await raw(gateway, path, { headers: bearer(token) });
      expect([path, answer.headers.filter(([name]) => name === "set-cookie").map(([, value]) => value.split(";")[0])]).toEqual([
        path,
        ["own=1"],
      ]);
    }
  });

  test("a browser without a link is told how to get one, as a page", async () => {
    const answer = await raw(gateway, "/website/shop/", { headers: { accept: "text/html,*/*", "sec-fetch-mode": "navigate" } });
    expect([answer.status, answer.header("content-type"), answer.text]).toEqual([
      401,
      "text/html; charset=utf-8",
      '<!doctype html><meta charset="utf-8"><title>401: this page opens by a link: agent-env gateway token --page prints one</title><p>401: this page opens by a link: agent-env gateway token --page prints one</p>\n',
    ]);
  });

  test("G9 a WebSocket of a page opens by the cookie", async () => {
    const socket = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-key": "x", "sec-websocket-version": "13" };
    const refused = await raw(gateway, "/website/shop/ws", { headers: socket });
    expect([refused.status, shop.received.length]).toEqual([401, 0]);
    await raw(gateway, "/website/shop/ws", { headers: { ...socket, cookie: await opened() } });
    await until("the site was asked", 5_000, () => shop.received.length > 0);
    expect(shop.received[0]?.headers.filter(([name]) => name === "cookie")).toEqual([]);
  });
});
