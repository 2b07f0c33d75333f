import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";

const CARD = card("shop", {
  url: "/agentenv/",
  additionalInterfaces: [
    { url: "mcp", transport: "mcp" },
    { url: "http://shop-website-backend:8000/rpc", transport: "a2a" },
    { url: "https://elsewhere.example/other", transport: "sse" },
  ],
  capabilities: { extensions: [{ uri: "urn:x:y", params: { endpoint: "/ext/y", methods: { go: { endpoint: "ext-go" } } } }] },
});

afterAll(endHosts);

describe.each(HOSTS)("/website on the $host host", ({ host, start }) => {
  let gateway: RunningGateway;
  let backend: Recorder;
  let frontend: Recorder;
  const answers = new Map<string, [status: number, headers: string[]]>();

  beforeAll(async () => {
    backend = await recorder({ card: () => ({ status: 200, body: CARD }) });
    frontend = await recorder({
      answer: (request, response) => {
        const [status, headers] = answers.get(request.url ?? "") ?? [200, []];
        response.writeHead(status, headers).end("page");
      },
    });
    gateway = await start({
      record: { servers: [{ name: "shop", kind: "website", url: backend.url, frontend_url: frontend.url, label: "shop--dep" }] },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await Promise.all([backend.close(), frontend.close()]);
  });
  beforeEach(() => {
    frontend.received.length = 0;
  });
  const site = () => `${gateway.prefix}/website/shop`;
  const outOfPrefix = () => "/..".repeat(site().split("/").length - 1);

  const RESERVED = [
    "/mcp",
    "/mcp/",
    "/./mcp",
    "/%6dcp",
    "/%256dcp",
    "/x/../mcp",
    "//mcp",
    "/\\mcp",
    "/MCP",
    "/mcp.",
    "/mcp%20",
    "/mcp%20.",
    "/mcp;v=1",
    "/mcp/x",
    "/mcp?x",
    "/mcp%3Fx/..%3b/mcp",
    "/%EF%BD%8D%EF%BD%83%EF%BD%90",
    "/m%C2%ADcp",
    "/%e2%80%8bmcp",
    "/agentenv/ext/x",
    "/agentenv",
    "/.well-known/agent-env.json",
    "/.well-known//agent-env.json",
    "/rpc",
    "/RPC/x",
    "/ext/y",
    "/ext-go",
    "/cdn-cgi/explorer",
    "/%2e/mcp",
    "/%5Cmcp",
  ];
  test.each(RESERVED)("V38 W3.1 W3.2 %s is 404 whatever the method, and nothing is sent", async (path) => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const answer = await raw(gateway, `/website/shop${path}`, { method });
      expect([path, method, answer.status]).toEqual([path, method, path.includes("..%3b") ? 400 : 404]);
    }
    const upgrade = await raw(gateway, `/website/shop${path}`, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      },
    });
    expect([404, 400]).toContain(upgrade.status);
    expect(frontend.received).toEqual([]);
  });

  test.each(["/x%2f..%2fmcp", "/mcp%2f..%2fx", "/x/..;/mcp", "/a%00b", "/a%0Ab", "/%252e%252e%252fmcp", `/%${"25".repeat(7)}41`])(
    "V39 %s has no safe reading: 400, and nothing is sent",
    async (path) => {
      expect((await raw(gateway, `/website/shop${path}`)).status).toBe(400);
      expect(frontend.received).toEqual([]);
    },
  );

  test.each([
    ["/mcpx", "/mcpx"],
    ["/a%2Fb", "/a%2Fb"],
    ["/mcp/../x", "/x"],
    ["/other", "/other"],
    ["/", "/"],
    ["//x//y", "//x//y"],
    ["/a+b%20c;p=1?q=%2F&q=", "/a+b%20c;p=1?q=%2F&q="],
  ])("V39 %s is a page, and arrives as %s", async (path, target) => {
    expect((await raw(gateway, `/website/shop${path}`)).status).toBe(200);
    expect(frontend.received.at(-1)?.target).toBe(target);
  });

  test("/website/<site> redirects to itself with a slash, its query kept", async () => {
    for (const [path, query] of [
      ["", ""],
      ["?x=1&y", "?x=1&y"],
    ]) {
      const answer = await raw(gateway, `/website/shop${path}`);
      expect([answer.status, answer.header("location")]).toEqual([308, `${site()}/${query}`]);
    }
    expect(frontend.received).toEqual([]);
  });

  test("an unknown site, another case, a longer name, an escaped slash are not the site", async () => {
    const statuses = [];
    for (const path of ["/website/nope/", "/website/Shop/", "/website/shopping", "/website", "/website/", "/website/shop%2Findex.html"])
      statuses.push((await raw(gateway, path)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 400]);
  });

  test("an unknown site is HTML where a browser navigates, else JSON", async () => {
    const page = await raw(gateway, "/website/nope/", { headers: { accept: "text/html,*/*", "sec-fetch-mode": "navigate" } });
    expect([page.header("content-type"), page.text]).toEqual([
      "text/html; charset=utf-8",
      expect.stringContaining("Unknown service: nope"),
    ]);
    expect((await raw(gateway, "/website/nope/")).json()).toEqual({ error: "Unknown service: nope" });
  });

  test("V40 the site's redirects are put under the prefix, once; others stay", async () => {
    const origin = `http://127.0.0.1:${gateway.port}`;
    const cases: [string, string][] = [
      ["/login", `${site()}/login`],
      ["http://shop-website-frontend/login?a#b", `${origin}${site()}/login?a#b`],
      [`${frontend.url}/x`, `${origin}${site()}/x`],
      [`${site()}/already`, `${site()}/already`],
      ["https://other/", "https://other/"],
      ["//other/x", "//other/x"],
      ["/../../x", `${site()}/x`],
      [`${site()}${outOfPrefix()}/x`, `${site()}/x`],
      [`${site()}/a/%2E%2e/b?c=/../d`, `${site()}/b?c=/../d`],
      ["/a/.\t./.\t./x", `${site()}/x`],
      ["/?next=/../x", `${site()}/?next=/../x`],
      ["relative", "relative"],
      ["?q", "?q"],
    ];
    for (const [location, shown] of cases) {
      answers.set("/go", [302, ["location", location]]);
      expect([location, (await raw(gateway, "/website/shop/go")).header("location")]).toEqual([location, shown]);
    }
  });

  test("Content-Location, Refresh, Link and SourceMap are put under the prefix", async () => {
    answers.set("/h", [
      200,
      ["content-location", "/c", "refresh", "0;url=/r", "link", '</a.css>; rel=preload, <https://o/b>; rel="next"', "sourcemap", "/m.map"],
    ]);
    const answer = await raw(gateway, "/website/shop/h");
    expect(["content-location", "refresh", "link", "sourcemap"].map((name) => answer.header(name))).toEqual([
      `${site()}/c`,
      `0;url=${site()}/r`,
      `<${site()}/a.css>; rel=preload, <https://o/b>; rel="next"`,
      `${site()}/m.map`,
    ]);
  });

  test("V41 cookies stay under the prefix and lose their Domain", async () => {
    answers.set("/c", [
      200,
      [
        "set-cookie",
        "a=1; Path=/",
        "set-cookie",
        "b=2; Domain=x; HttpOnly",
        "set-cookie",
        `c=3; Path=${site()}/x; SameSite=Lax`,
        "set-cookie",
        "d=4; Path=/admin",
      ],
    ]);
    const cookies = (await raw(gateway, "/website/shop/c")).headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
    expect(cookies).toEqual([`a=1; Path=${site()}/`, "b=2; HttpOnly", `c=3; Path=${site()}/x; SameSite=Lax`, `d=4; Path=${site()}/admin`]);
  });

  test("a site can't speak for the whole origin", async () => {
    answers.set("/hsts", [
      200,
      ["strict-transport-security", "max-age=1", "clear-site-data", '"*"', "alt-svc", "h3=:1", "service-worker-allowed", "/"],
    ]);
    const answer = await raw(gateway, "/website/shop/hsts");
    expect(
      ["strict-transport-security", "clear-site-data", "alt-svc", "service-worker-allowed"].map((name) => answer.header(name)),
    ).toEqual([undefined, undefined, undefined, `${site()}/`]);
  });

  test("a service worker's scope ends at the prefix, however the site writes it", async () => {
    const gatewayOrigin = `http://127.0.0.1:${gateway.port}`;
    const cases: [string, string | undefined][] = [
      ["/", `${site()}/`],
      ["../../", `${site()}/`],
      ["../../../../mcp", `${site()}/mcp`],
      ["./", `${site()}/js/`],
      ["", `${site()}/js/sw.js`],
      ["\\..\\", `${site()}/`],
      ["%2e%2e/%2e%2e/", `${site()}/`],
      [site(), `${site()}/`],
      [`${site()}/app/`, `${site()}/app/`],
      [`${site()}${outOfPrefix()}/`, `${site()}/`],
      [`${site()}ping/`, `${site()}${site()}ping/`],
      [`${frontend.url}/app/`, `${site()}/app/`],
      [`${gatewayOrigin}/`, undefined],
      [`${gatewayOrigin}${site()}/../other/`, undefined],
      [`${gatewayOrigin}${site()}/app/`, `${site()}/app/`],
      ["https://other.example/", undefined],
      [`//127.0.0.1:${gateway.port}/`, undefined],
    ];
    for (const [scope, shown] of cases) {
      answers.set("/js/sw.js", [200, ["service-worker-allowed", scope]]);
      expect([scope, (await raw(gateway, "/website/shop/js/sw.js")).header("service-worker-allowed")]).toEqual([scope, shown]);
    }
  });

  test("a row of < in Link costs time by its length", async () => {
    answers.set("/long", [200, ["link", "<".repeat(12_000)]]);
    const began = performance.now();
    expect((await raw(gateway, "/website/shop/long")).header("link")?.length).toBe(12_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("the site is told its prefix, anew", async () => {
    await raw(gateway, "/website/shop/p", { headers: { "x-forwarded-prefix": "/forged", "x-forwarded-proto": "https" } });
    const forwarded = frontend.received
      .at(-1)
      ?.headers.filter(([name]) => name.startsWith("x-forwarded-"))
      .sort();
    expect(forwarded).toEqual([
      ...(host === "node" ? [["x-forwarded-for", "127.0.0.1"]] : []),
      ["x-forwarded-host", `127.0.0.1:${gateway.port}`],
      ["x-forwarded-prefix", site()],
      ["x-forwarded-proto", "http"],
    ]);
  });

  test("a page's script can't call the gateway as its viewer", async () => {
    const own = `http://127.0.0.1:${gateway.port}`;
    for (const headers of [{ origin: own }, { "sec-fetch-site": "same-origin" }] as Record<string, string>[])
      for (const path of ["/mcp", "/svc/shop/x", "/state"])
        expect([path, (await raw(gateway, path, { headers })).status]).toEqual([path, 401]);
    expect((await raw(gateway, "/svc/shop/x", { headers: { origin: "http://shop--dep.localhost" } })).status).toBe(403);
    expect((await raw(gateway, "/website/shop/x", { headers: { "sec-fetch-site": "same-origin", origin: own } })).status).toBe(200);
  });

  test("a site that was never reached is 503 with Retry-After, one that was 502", async () => {
    const front = await recorder();
    const record = { servers: [{ name: "late", kind: "website" as const, url: backend.url, frontend_url: front.url }] };
    const other = await start({ record });
    await front.close();
    const early = await raw(other, "/website/late/");
    expect([early.status, early.header("retry-after")]).toEqual([503, "1"]);
    const again = await recorder({ port: front.port });
    expect((await raw(other, "/website/late/")).status).toBe(200);
    await again.close();
    const late = await raw(other, "/website/late/");
    expect([late.status, late.json()]).toEqual([502, { error: "Proxy request failed: late: connection refused" }]);
    await other.stop();
  });
});
