import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PING, post, type RawAnswer, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { bearer, newSigner, type Signer } from "../../fixtures/gateway/tokens.ts";

const UI = "https://ui.example";
/** A route of each kind, with a method that it has. */
const ROUTES = [
  ["/step", "POST"],
  ["/state", "GET"],
  ["/trajectory", "GET"],
  ["/changes", "GET"],
  ["/agentenv", "POST"],
  ["/tools/disable", "POST"],
  ["/clock/set-time", "PUT"],
  ["/triggers/register", "POST"],
  ["/.well-known/agent-env.json", "GET"],
] as const;

afterAll(endHosts);

describe.each(HOSTS)("an allowed origin's page on the $host host", ({ start }) => {
  let open: RunningGateway;
  let closed: RunningGateway;
  let plain: RunningGateway;
  let items: McpFixture;
  let shop: Recorder;
  let signer: Signer;
  beforeAll(async () => {
    signer = await newSigner();
    items = await mcpFixture({ name: "items", tools: [[{ name: "items_say" }, () => text("said")]] });
    shop = await recorder({
      answer: (request, response) => {
        const own = request.url === "/own" ? { "access-control-allow-origin": "https://other.example" } : {};
        response.writeHead(200, { "content-type": "text/plain", ...own }).end("shop");
      },
    });
    const servers = [
      { name: "items", kind: "mcp" as const, url: items.url },
      { name: "shop", kind: "website" as const, url: shop.url, frontend_url: shop.url },
    ];
    const settings = { GATEWAY_ALLOWED_ORIGINS: UI };
    open = await start({ record: { servers }, settings });
    closed = await start({ record: { servers, auth: { mode: "token", keys: [signer.jwk] } }, settings });
    plain = await start({ record: { servers } });
  });
  afterAll(async () => {
    await Promise.all([open, closed, plain].map((gateway) => gateway.stop()));
    await Promise.all([items.close(), shop.close()]);
  });
  const preflight = (gateway: RunningGateway, path: string, asked: { origin?: string; method?: string; headers?: string } = {}) => {
    const { origin = UI, method = "POST", headers = "authorization, content-type" } = asked;
    const fields = { origin, "access-control-request-method": method, "access-control-request-headers": headers };
    return raw(gateway, path, { method: "OPTIONS", headers: fields });
  };

  test("F42 a preflight of every route is answered without credentials, and reaches no server", async () => {
    for (const gateway of [open, closed]) {
      for (const [path, method] of [...ROUTES, ["/svc/shop/x", "PATCH"], ["/svc/mcp-items/mcp", "POST"]] as const) {
        shop.received.length = 0;
        const answer = await preflight(gateway, path, { method });
        expect([path, answer.status, corsOf(answer)]).toEqual([
          path,
          204,
          [
            ["access-control-allow-headers", "authorization, content-type"],
            ["access-control-allow-methods", method],
            ["access-control-allow-origin", UI],
            ["access-control-max-age", "86400"],
            ["vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"],
          ],
        ]);
        expect(shop.received).toEqual([]);
      }
    }
  });

  test("F42 what isn't a method or a field's name is not allowed back", async () => {
    const answer = await preflight(open, "/svc/shop/x", { method: "GET, x", headers: "x-a, b c, mcp-param-é" });
    expect([answer.header("access-control-allow-methods"), answer.header("access-control-allow-headers")]).toEqual([undefined, "x-a"]);
  });

  test("F42 N4 a preflight of another origin is 403, with nothing that allows it", async () => {
    for (const origin of ["https://evil.example", "null", "https://ui.example.evil.example"])
      for (const path of ["/step", "/tools/disable", "/svc/shop/x"]) {
        const answer = await preflight(closed, path, { origin });
        expect([origin, path, answer.status, corsOf(answer)]).toEqual([origin, path, 403, [["vary", "Origin"]]]);
      }
  });

  test("N4 what says it comes from the gateway's own address, as a page under a prefix does, is allowed nothing", async () => {
    const answer = await preflight(open, "/svc/shop/x", { origin: `http://127.0.0.1:${open.port}` });
    expect([answer.status, corsOf(answer)]).toEqual([401, [["vary", "Origin"]]]);
  });

  test("F42 it reads every answer, errors too", async () => {
    const token = await signer.sign({ aud: closed.deployment, scope: "tools read" });
    const readable = [
      ["access-control-allow-origin", UI],
      ["access-control-expose-headers", "*"],
      ["vary", "Origin"],
    ];
    const answers: [string, number, RawAnswer][] = [
      ["an answer", 200, await raw(open, "/state", { headers: { origin: UI } })],
      ["a wrong method", 405, await raw(open, "/step", { headers: { origin: UI } })],
      ["an unknown route", 404, await raw(open, "/nope", { headers: { origin: UI } })],
      ["a bad body", 400, await post(open, "/step", "{", { origin: UI })],
      ["no token", 401, await raw(closed, "/state", { headers: { origin: UI } })],
      ["a token without the scope", 403, await post(closed, "/clock/clear", "", { origin: UI, ...bearer(token) })],
      ["a good token", 200, await raw(closed, "/trajectory", { headers: { origin: UI, ...bearer(token) } })],
      ["a raw API", 200, await raw(open, "/svc/shop/x", { headers: { origin: UI } })],
      ["a guarded API", 200, await post(open, "/svc/mcp-items/mcp", { ...PING, method: "initialize", params: {} }, { origin: UI })],
      ["an unknown API", 404, await raw(open, "/svc/nope/x", { headers: { origin: UI } })],
    ];
    expect(answers.map(([what, , answer]) => [what, answer.status, corsOf(answer)])).toEqual(
      answers.map(([what, status]) => [what, status, readable]),
    );
  });

  test("F42 a server that says itself who may read its answer is left to say so", async () => {
    const answer = await raw(open, "/svc/shop/own", { headers: { origin: UI } });
    expect(corsOf(answer)).toEqual([["access-control-allow-origin", "https://other.example"]]);
  });

  test("7-sites 8 a site answers preflights itself, and no header is added to what it says", async () => {
    shop.received.length = 0;
    const answer = await preflight(open, "/website/shop/x");
    expect([answer.status, answer.text, corsOf(answer)]).toEqual([200, "shop", []]);
    expect(shop.received.map(({ method }) => method)).toEqual(["OPTIONS"]);
  });

  test("G7 where no origin is allowed, and for what is no preflight, nothing of this happens", async () => {
    const answer = await raw(plain, "/svc/shop/x");
    expect(corsOf(answer)).toEqual([]);
    expect(corsOf(await raw(plain, "/state"))).toEqual([]);
    shop.received.length = 0;
    await raw(open, "/svc/shop/x", { method: "OPTIONS", headers: { origin: UI } });
    await raw(open, "/svc/shop/x", { method: "OPTIONS" });
    expect(shop.received.map(({ method }) => method)).toEqual(["OPTIONS", "OPTIONS"]);
  });
});

function corsOf(answer: RawAnswer): [string, string][] {
  return answer.headers.filter(([name]) => name.startsWith("access-control") || name === "vary").sort(([a], [b]) => (a < b ? -1 : 1));
}
