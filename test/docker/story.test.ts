import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toolNames } from "../../build-service/src/deploy/mcp-tools.ts";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { checkedByKit } from "../fixtures/conformance-kit.ts";
import { modernBody, modernHeaders, rawTo } from "../fixtures/gateway/client.ts";
import { type Driver, withDriver } from "../fixtures/interop/driver.ts";
import { sdkV1 } from "../fixtures/interop/sdk-v1.ts";
import { sdkV2 } from "../fixtures/interop/sdk-v2.ts";
import { until } from "../fixtures/until.ts";
import {
  type Deployed,
  dataOf,
  healthOf,
  ITEMS,
  posted,
  READY_MS,
  renew,
  resetAll,
  SHOP,
  type Starting,
  startSuite,
  watchSite,
  wholeBurst,
} from "./story-support.ts";
import { noEngine } from "./support.ts";

/** The sites with tools, and what they call the one that orders. */
const SHOPS = [
  { site: "shop", place: "place_order" },
  { site: "shoprel", place: "shoprel_place_order" },
];
const DOWN_MS = 20_000;

describe.skipIf(noEngine)("shop, shoprel, notes and an MCP env as one multi", () => {
  let starting: Starting;
  let suite: Deployed;
  beforeAll(async () => {
    starting = startSuite({ GATEWAY_SERVER_TIMING: "on" });
    suite = await starting.up;
  });
  afterAll(() => starting.stop());
  beforeEach(() => resetAll(suite));

  const mcpUrl = () => `${suite.base}/mcp`;
  const as = (role: string) => ({ url: mcpUrl(), headers: { "AgentEnv-Role": role } });
  const ready = async () => (await healthOf(suite)).status === 200;
  const listed = () => toolNames(mcpUrl(), AbortSignal.timeout(READY_MS));
  const ALL_TOOLS = [
    "list_website_urls",
    "items_add",
    "items_list",
    "place_order",
    "count_orders",
    "shoprel_place_order",
    "shoprel_count_orders",
  ];

  test("G9 its gateway is told what the operator has set", async () => {
    expect((await fetch(`${suite.base}/state`)).headers.get("server-timing")).toMatch(/^gateway;dur=/);
  });

  describe("W7.1 the tools of the sites", () => {
    test("W7.1 are listed beside the MCP env's, none for notes", async () => {
      expect(await listed()).toEqual(ALL_TOOLS);
    });

    test.each(SHOPS)("W7.1 change the API and the data of $site, with the caller's role", async ({ site, place }) => {
      const order = { product: "tea", quantity: 3, by: "alice", at: expect.any(String) };
      await withDriver(sdkV1(as("alice")), async (client) => {
        expect(await client.call(place, { product: "tea", quantity: 3 })).toMatchObject({ structuredContent: order });
      });
      const api = await fetch(`${suite.base}/svc/${site}/api/orders`);
      expect(await api.json()).toEqual({ orders: [order] });
      expect(await dataOf(suite, site)).toEqual({ orders: [order] });
      const other = site === "shop" ? "shoprel" : "shop";
      expect(await dataOf(suite, other)).toEqual({ orders: [] });
    });

    describe.skipIf(noChromium !== "")(`in a browser${noChromium && ` (${noChromium})`}`, () => {
      let browser: Browser;
      beforeAll(async () => {
        browser = await launchChromium();
      });
      afterAll(() => browser.close());

      test.each(SHOPS)("W7.1 change the page of $site as it shows it", async ({ site, place }) => {
        const page = await browser.newPage();
        await page.goto(`${suite.base}/website/${site}/`);
        const shown = async () => [await page.textContent("output"), await page.locator("ol li").allTextContents()];
        expect(await shown()).toEqual(["0", []]);
        await withDriver(sdkV2(as("alice"), "modern"), (client) => client.call(place, { product: "coffee", quantity: 2 }));
        await page.reload();
        expect(await shown()).toEqual(["1", ["2 × coffee"]]);
        await page.close();
      });
    });
  });

  describe("W7.2 the endpoints of the sites", () => {
    const order = (tool: string) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: { product: "tea" }, _meta: { "agentenv.io/role": "admin" } },
    });

    test.each(SHOPS)("W7.2 are closed below the pages of $site, for GET and POST", async ({ site, place }) => {
      const port = Number(new URL(suite.base).port);
      const paths = ["mcp", "./mcp"].map((path) => `/website/${site}/${path}`);
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const asked = paths.flatMap((path) => [
        rawTo(port, path, { headers }),
        rawTo(port, path, { method: "POST", headers, body: JSON.stringify(order(place)) }),
      ]);
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      expect(await dataOf(suite, site)).toEqual({ orders: [] });
    });

    // The role `default` is none to a tool.
    describe.each<[string, Record<string, string>, string | null]>([
      ["default", {}, null],
      ["alice", { "AgentEnv-Role": "alice" }, "alice"],
    ])("of a caller who is %s", (_role, headers, by) => {
      test.each(SHOPS)(
        `W7.2 are open as the API of $site, where a forged role reaches the tool as the caller's`,
        async ({ site, place }) => {
          const url = `${suite.base}/svc/${site}/mcp`;
          const { params } = order(place);
          const client = new Client({ name: "forger", version: "1" });
          await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
          expect(await client.callTool(params)).toMatchObject({ structuredContent: { by } });
          await client.close();
          const message = { method: "tools/call", params };
          const modern = await posted(url, modernBody(message), { ...modernHeaders(message), ...headers });
          expect([modern.status, await dataOf(suite, site)]).toMatchObject([200, { orders: [{ by }, { by }] }]);
        },
      );
    });

    test.each([...SHOPS.map(({ site }) => [site, []] as const), ["notes", ["declares no MCP interface"]] as const])(
      "W7.2 W5 conformance through /svc/%s passes",
      async (site, skipped) => {
        const { conforms, subjects } = await checkedByKit(`${suite.base}/svc/${site}`);
        const checks = subjects.flatMap((subject) => subject.checks);
        expect({
          conforms,
          failed: checks.filter(({ outcome }) => outcome === "failed"),
          mcp: checks.flatMap((check) => (check.id === "mcp" ? [check.outcome === "skipped" ? check.reason : check.outcome] : [])),
        }).toEqual({ conforms: true, failed: [], mcp: skipped.length === 0 ? ["passed"] : skipped });
      },
    );
  });

  describe("W7.3 30 calls at once all succeed", () => {
    let clients: readonly Driver[];
    beforeEach(async () => {
      clients = await Promise.all([sdkV1({ url: mcpUrl() }), sdkV2({ url: mcpUrl() }, "legacy"), sdkV2({ url: mcpUrl() }, "modern")]);
      return () => Promise.all(clients.map((client) => client.close()));
    });

    test("W7.3 to a site, and to the MCP server", async () => {
      await Promise.all([SHOP, ITEMS].map((changed) => wholeBurst(suite, clients, changed)));
    });

    test("W7.3 to a site and to the MCP server whose containers are away, and then come back", async () => {
      const away = ["shop-website-backend", "items"].map((service) => suite.container(service));
      await Promise.all(away.map((container) => container.kill()));
      const bursts = [SHOP, ITEMS].map((changed) => wholeBurst(suite, clients, changed));
      await Promise.all(away.map((container) => container.start()));
      await Promise.all(bursts);
    });

    describe.each(["restart", "kill"] as const)("after a %s, the first ones", (how) => {
      test(`W7.3 of a site's container (${how})`, async () => {
        await renew(suite.container("shop-website-backend"), how);
        await wholeBurst(suite, clients, SHOP);
      });

      test(`W7.3 of the MCP server's container (${how})`, async () => {
        await renew(suite.container("items"), how);
        await wholeBurst(suite, clients, ITEMS);
      });

      test(`W7.3 of the gateway's container (${how})`, async () => {
        await renew(suite.container("gateway"), how);
        await until("the gateway is ready", READY_MS, ready);
        await Promise.all([SHOP, ITEMS].map((changed) => wholeBurst(suite, clients, changed)));
      });
    });
  });

  test("W7.4 a gateway that restarts while a site is down for 20 s is up within 3 s of its answer, with its tools", async () => {
    const site = suite.container("shop-website-backend");
    await site.stop({ t: 10 });
    const began = performance.now();
    await suite.container("gateway").restart({ t: 10 });
    await using watch = await watchSite(suite, "shop");
    const statuses = new Set<number>();
    await until("the site has been down for 20 s", DOWN_MS + READY_MS, async () => {
      statuses.add((await healthOf(suite)).status);
      return performance.now() - began >= DOWN_MS;
    });
    expect([...statuses]).toEqual([503]);
    expect((await healthOf(suite)).body).toEqual({
      status: "starting",
      waiting: [{ name: "shop", kind: "website", reason: "name not found", since: expect.any(String) }],
    });
    await site.start();
    await watch.answered;
    await until("the gateway is ready", 3_000, ready);
    expect(await listed()).toEqual(ALL_TOOLS);
  });
});
