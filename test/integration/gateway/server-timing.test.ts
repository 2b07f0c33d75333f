import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openedSession, post, postModern, type RawAnswer, raw, rawTo } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { fieldsNamed } from "../../fixtures/gateway/shop.ts";
import { bearer, newSigner, type Signer } from "../../fixtures/gateway/tokens.ts";

const WORKS_MS = 120;
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow", arguments: {} } };
const OURS = /^gateway;dur=(\d+(?:\.\d{1,3})?), upstream;dur=(\d+(?:\.\d{1,3})?)$/;

afterAll(endHosts);

describe.each(HOSTS)("Server-Timing on the $host host", ({ start }) => {
  let open: RunningGateway;
  let closed: RunningGateway;
  let silent: RunningGateway;
  let items: McpFixture;
  let shop: Recorder;
  let signer: Signer;
  beforeAll(async () => {
    signer = await newSigner();
    const slow = () => new Promise((resolve) => setTimeout(() => resolve(text("done")), WORKS_MS));
    items = await mcpFixture({ name: "items", answerAs: "json", tools: [[{ name: "slow" }, slow]] });
    shop = await recorder({
      answer: (request, response) => {
        const own = request.url === "/own" ? { "server-timing": 'db;dur=5.0;desc="caf\u00e9", cache' } : {};
        setTimeout(() => response.writeHead(200, { "content-type": "text/plain", ...own }).end("shop"), WORKS_MS);
      },
    });
    const servers = [
      { name: "items", kind: "mcp" as const, url: items.url },
      { name: "shop", kind: "website" as const, url: shop.url, frontend_url: shop.url },
    ];
    const settings = { GATEWAY_SERVER_TIMING: "on" };
    open = await start({ record: { servers }, settings });
    closed = await start({ record: { servers, auth: { mode: "token", keys: [signer.jwk] } }, settings });
    silent = await start({ record: { servers } });
    await post(open, "/mcp", call);
  });
  afterAll(async () => {
    await Promise.all([open, closed, silent].map((gateway) => gateway.stop()));
    await Promise.all([items.close(), shop.close()]);
  });

  test.each([
    ["/mcp, legacy", () => post(open, "/mcp", call)],
    ["/mcp, modern", () => postModern(open, { method: "tools/call", params: { name: "slow", arguments: {} } })],
    ["/step", () => post(open, "/step", { action: "call_tool", tool_name: "slow" })],
    ["/svc", () => raw(open, "/svc/shop/x")],
    ["/svc, guarded", () => post(open, "/svc/mcp-items/mcp", call)],
    ["/website", () => raw(open, "/website/shop/x")],
  ])("tells the server's time from the gateway's own: %s", async (name, ask) => {
    const began = performance.now();
    const answer = await ask();
    const tookMs = performance.now() - began;
    const [, gatewayMs, upstreamMs] = OURS.exec(answer.header("server-timing") ?? "") ?? [];
    expect([name, answer.header("server-timing")]).toEqual([name, expect.stringMatching(OURS)]);
    // timers may fire a millisecond early, and clocks of Workers tick only with I/O
    if (name !== "/svc, guarded") expect(Number(upstreamMs)).toBeGreaterThan(WORKS_MS - 5);
    expect(Number(gatewayMs) + Number(upstreamMs)).toBeLessThan(tookMs + 2);
  });

  test("G7 a server's own stays as it is, beside the gateway's", async () => {
    const theirs = fieldsNamed(await rawTo(shop.port, "/own"), "server-timing")[0] ?? "";
    for (const path of ["/svc/shop/own", "/website/shop/own"]) {
      // two fields, or one with both: that says the same (RFC 9110 §5.3)
      const whole = fieldsNamed(await raw(open, path), "server-timing").join(", ");
      expect([path, whole.slice(0, theirs.length)]).toEqual([path, theirs]);
      expect(whole.slice(theirs.length)).toMatch(new RegExp(`^, ${OURS.source.slice(1)}`));
    }
  });

  test("N4 only callers who may read the state are shown it", async () => {
    const token = (scope: string) => signer.sign({ aud: closed.deployment, scope });
    const agent = bearer(await token("tools sites svc"));
    const grader = bearer(await token("tools sites svc read"));
    const ask = (headers: Record<string, string>): Promise<RawAnswer[]> =>
      Promise.all([
        post(closed, "/mcp", call, headers),
        post(closed, "/step", { action: "list_tools" }, headers),
        raw(closed, "/svc/shop/x", { headers }),
        raw(closed, "/website/shop/x", { headers }),
      ]);
    expect((await ask(agent)).map((answer) => [answer.status, answer.header("server-timing")])).toEqual(
      Array.from({ length: 4 }, () => [200, undefined]),
    );
    expect((await ask(grader)).map((answer) => [answer.status, OURS.test(answer.header("server-timing") ?? "")])).toEqual(
      Array.from({ length: 4 }, () => [200, true]),
    );
    expect((await ask({})).map((answer) => [answer.status, answer.header("server-timing")])).toEqual(
      Array.from({ length: 4 }, () => [401, undefined]),
    );
  });

  test("N4 what a browser asks tells no page, and nobody is allowed to read times across origins", async () => {
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }] as Record<string, string>[]) {
      const answer = await raw(open, "/website/shop/x", { headers });
      expect([answer.status, answer.header("server-timing"), answer.header("timing-allow-origin")]).toEqual([200, undefined, undefined]);
    }
  });

  test("G7 without the setting there is none", async () => {
    const answers = [await post(silent, "/mcp", call), await raw(silent, "/svc/shop/x"), await raw(silent, "/website/shop/x")];
    expect(answers.map((answer) => [answer.status, answer.header("server-timing")])).toEqual([
      [200, undefined],
      [200, undefined],
      [200, undefined],
    ]);
    const own = await raw(silent, "/svc/shop/own");
    expect(fieldsNamed(own, "server-timing").length).toBe(1);
  });

  test("a session's stream has it too, from the moment it opens", async () => {
    const session = await openedSession(open);
    const answer = await post(open, "/mcp", call, { ...session, accept: "text/event-stream" });
    expect(answer.header("server-timing")).toMatch(OURS);
  });
});
