import { afterAll, afterEach, describe, expect, test } from "vitest";
import { openedSession, post, raw, rawTo } from "../../fixtures/gateway/client.ts";
import { type CollectedSpan, type Collector, collector } from "../../fixtures/gateway/collector.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { listeningPort, runNodeHost } from "../../fixtures/gateway/node-host.ts";
import { type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const SECRET = "s3cret-value";
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
afterAll(endHosts);

const call = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: { word: SECRET } } });

describe.each(HOSTS)("spans on the $host host", ({ start }) => {
  type Started = { gateway: RunningGateway; items: McpFixture; shop: Recorder; to: Collector };
  const started = async (settings: Record<string, string> = {}, to?: Collector): Promise<Started> => {
    const taking = to ?? (await collector());
    clean.push(() => taking.close());
    const items = await mcpFixture({
      name: "items",
      answerAs: "json",
      tools: [
        [{ name: "say" }, () => text("said")],
        [{ name: "fail" }, () => ({ ...text("no"), isError: true })],
      ],
    });
    const shop = await recorder({
      answer: (request, response) => response.writeHead(request.url?.startsWith("/broken") ? 503 : 200).end("shop"),
    });
    clean.push(() => Promise.all([items.close(), shop.close()]));
    const gateway = await start({
      record: {
        servers: [
          { name: "items", kind: "mcp", url: items.url },
          { name: "shop", kind: "website", url: shop.url, frontend_url: shop.url },
        ],
      },
      settings: { OTEL_EXPORTER_OTLP_ENDPOINT: taking.url, OTEL_SERVICE_NAME: "shop-gateway", ...settings },
    });
    clean.push(() => gateway.stop());
    return { gateway, items, shop, to: taking };
  };
  const spansOf = async (to: Collector, trace: string, count: number): Promise<CollectedSpan[]> => {
    const found = () => to.spans.filter(({ traceId }) => traceId === trace);
    await until(`${count} spans of ${trace} arrive`, 20_000, () => found().length >= count);
    return found();
  };

  test("a tool call is one of the gateway's and one of the server's, in the caller's trace", async () => {
    const { gateway, items, to } = await started({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-key" });
    const session = await openedSession(gateway);
    await post(gateway, "/mcp", call("say"), session);
    const headers = { ...session, traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "vendor=1", baggage: "user=7" };
    expect((await post(gateway, "/mcp", call("say"), headers)).status).toBe(200);

    const spans = await spansOf(to, TRACE, 2);
    const [server, client] = [spans.find(({ kind }) => kind === 2), spans.find(({ kind }) => kind === 3)];
    expect([spans.length, server?.name, server?.parentSpanId, server?.attributes, server?.status]).toEqual([
      2,
      "POST /mcp",
      PARENT,
      {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/mcp",
        "http.response.status_code": 200,
        "agentenv.deployment": gateway.deployment,
        "mcp.method.name": "tools/call",
      },
      undefined,
    ]);
    expect([client?.name, client?.parentSpanId, client?.attributes]).toEqual([
      "tools/call say",
      server?.spanId,
      {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "say",
        "mcp.protocol.version": "2025-11-25",
        "server.address": "127.0.0.1",
        "server.port": items.port,
        "http.response.status_code": 200,
      },
    ]);
    expect(server?.resource).toEqual({ "service.name": "shop-gateway", "service.version": "0.1.0" });
    const sent = items.received.filter(({ body }) => body.includes("tools/call")).at(-1)?.headers ?? [];
    expect(sent.filter(([name]) => ["traceparent", "tracestate", "baggage"].includes(name)).sort()).toEqual([
      ["baggage", "user=7"],
      ["traceparent", `00-${TRACE}-${client?.spanId}-01`],
      ["tracestate", "vendor=1"],
    ]);
    const times = [server?.startTimeUnixNano, client?.startTimeUnixNano, client?.endTimeUnixNano, server?.endTimeUnixNano].map(String);
    expect(times).toEqual([...times].sort());
    expect(to.requests[0]).toMatchObject({ path: "/v1/traces", headers: { authorization: "Bearer collector-key" } });
  });

  test("a traceparent that is none is replaced, with its state", async () => {
    const { gateway, shop, to } = await started();
    await raw(gateway, "/svc/shop/x", { headers: { traceparent: "00-nonsense-01", tracestate: "vendor=1" } });
    const sent = shop.received.at(-1)?.headers ?? [];
    const [, trace = "", parent = ""] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-03$/.exec(sent.find(([name]) => name === "traceparent")?.[1] ?? "") ?? [];
    expect([trace.length, sent.some(([name]) => name === "tracestate")]).toEqual([32, false]);
    const spans = await spansOf(to, trace, 2);
    expect(spans.find(({ kind }) => kind === 3)?.spanId).toBe(parent);
    expect(spans.find(({ kind }) => kind === 2)).not.toHaveProperty("parentSpanId");
  });

  test("every kind of route is told of by its own name, and nothing that a caller chose", async () => {
    const { gateway, to } = await started();
    // opens the gateway's session with the server
    await post(gateway, "/step", { action: "call_tool", tool_name: "say" });
    const trace = { traceparent: `00-${TRACE}-${PARENT}-00` };
    await raw(gateway, `/svc/shop/${SECRET}?q=${SECRET}`, { headers: trace });
    await raw(gateway, `/website/shop/broken/${SECRET}?q=${SECRET}`, { headers: { ...trace, cookie: `c=${SECRET}` } });
    await post(gateway, "/step", { action: "call_tool", tool_name: "fail", arguments: { word: SECRET } }, trace);
    await raw(gateway, `/nope/${SECRET}`, { headers: trace });
    await raw(gateway, `/state?q=${SECRET}`, { method: "PROPFIND", headers: { ...trace, authorization: `Bearer ${SECRET}` } });
    await raw(gateway, "/health", { headers: trace });
    const spans = await spansOf(to, TRACE, 8);
    const told = spans.map(({ name, kind, status, attributes }) => [
      kind === 2 ? "server" : "client",
      name,
      attributes["agentenv.server"],
      attributes["http.response.status_code"],
      attributes["error.type"],
      status?.code,
    ]);
    expect(told.sort()).toEqual(
      [
        ["client", "GET", undefined, 200, undefined, undefined],
        ["client", "GET", undefined, 503, "503", 2],
        ["client", "tools/call fail", undefined, 200, "tool_error", 2],
        ["server", "GET /svc/{key}", "shop", 200, undefined, undefined],
        ["server", "GET /website/{site}", "shop", 503, "503", 2],
        ["server", "GET", undefined, 404, undefined, undefined],
        ["server", "POST /step", undefined, 200, undefined, undefined],
        ["server", "_OTHER /state", undefined, 405, undefined, undefined],
      ].sort(),
    );
    expect(to.requests.map(({ text }) => text).join("\n")).not.toContain(SECRET);
  });

  test("G9 a collector that is away, refuses, or never answers costs no call; what is lost is counted", async () => {
    const away = await collector(() => null);
    const { gateway } = await started({ GATEWAY_MAX_QUEUED_SPANS: "4" }, away);
    const began = performance.now();
    for (let n = 0; n < 12; n++) expect((await post(gateway, "/mcp", call("say"))).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(8_000);
    await until("spans are dropped", 20_000, async () => {
      const { spans } = (await raw(gateway, "/state")).json() as { spans: { queued: number; dropped: number; sent: number } };
      return spans.dropped > 0 && spans.queued <= 4 && spans.sent === 0;
    });
  });

  test("without a collector nothing is told, and what a caller says of its trace passes as it is", async () => {
    const { gateway, items, to } = await started({ OTEL_EXPORTER_OTLP_ENDPOINT: "" });
    await post(gateway, "/mcp", call("say"), { traceparent: "as-it-is", tracestate: "too" });
    const sent = items.received.filter(({ body }) => body.includes("tools/call")).at(-1)?.headers ?? [];
    expect(sent.filter(([name]) => name.startsWith("trace"))).toEqual([
      ["traceparent", "as-it-is"],
      ["tracestate", "too"],
    ]);
    expect((await raw(gateway, "/state")).json()).not.toHaveProperty("spans");
    expect(to.requests).toEqual([]);
  });
});

test("what waits to be sent is sent when the gateway is told to stop", async () => {
  const to = await collector();
  const shop = await recorder();
  clean.push(() => Promise.all([to.close(), shop.close()]));
  const gateway = await runNodeHost({
    GATEWAY_RECORD: JSON.stringify({
      name: "demo",
      auth: { mode: "open" },
      servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url }],
    }),
    MCP_HOST: "127.0.0.1",
    MCP_PORT: "0",
    OTEL_EXPORTER_OTLP_ENDPOINT: to.url,
  });
  clean.push(() => gateway.child.kill("SIGKILL"));
  const port = await listeningPort(gateway);
  await until("it is ready", 20_000, async () => (await rawTo(port, "/health")).status === 200);
  await rawTo(port, "/svc/shop/x", { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
  gateway.child.kill("SIGTERM");
  expect([await gateway.exited, to.spans.map(({ name, traceId }) => [name, traceId])]).toEqual([
    0,
    [
      ["GET", TRACE],
      ["GET /svc/{key}", TRACE],
    ],
  ]);
});
