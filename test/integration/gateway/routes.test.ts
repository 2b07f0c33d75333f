import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type ItemsAndShop, startItemsAndShop } from "../../fixtures/gateway/items-and-shop.ts";
import { text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const CARD_PATH = "/.well-known/agent-env.json";

afterAll(endHosts);

describe.each(HOSTS)("the other routes on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let stop: ItemsAndShop["stop"];
  let shopCard = { status: 200, body: { name: "shop", url: "/agentenv", capabilities: { operations: ["data/get"] }, x: null } as unknown };

  beforeAll(async () => {
    ({ gateway, stop } = await startItemsAndShop(start, {
      items: {
        card: {
          name: "items",
          url: "/agentenv",
          additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
          capabilities: { tools: null, extensions: [{ uri: "urn:x:fail/v1", params: { endpoint: "/agentenv/ext/fail" } }] },
        },
        tools: [
          [{ name: "items_add", description: "Add.", inputSchema: { type: "object", properties: { a: {} } } }, () => text("")],
          [{ name: "items_secret", _meta: { "agentenv.io/hiddenByDefault": true } }, () => text("")],
          [{ name: "items_bad", inputSchema: { type: "string" } }, () => text("")],
        ],
      },
      shop: { card: () => shopCard },
    }));
  });
  afterAll(() => stop());
  const children = async () =>
    ((await raw(gateway, CARD_PATH)).json() as { children_environments: { name: string }[] }).children_environments;

  test("the card is the gateway's over its servers', each leading through /svc", async () => {
    const answer = await raw(gateway, CARD_PATH);
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/json"]);
    expect(await children()).toEqual([
      {
        name: "items",
        url: "/svc/mcp-items/agentenv",
        additionalInterfaces: [],
        capabilities: { tools: null, extensions: [{ uri: "urn:x:fail/v1", params: { endpoint: "/svc/mcp-items/agentenv/ext/fail" } }] },
        children_environments: null,
      },
      {
        name: "shop",
        url: "/svc/shop/agentenv",
        additionalInterfaces: [],
        capabilities: { operations: ["data/get"] },
        children_environments: null,
        x: null,
      },
    ]);
  });

  test("a child's own card is at /svc/<key>", async () => {
    expect(((await raw(gateway, `/svc/mcp-items${CARD_PATH}`)).json() as { url: string }).url).toBe("/agentenv");
  });

  test("/state lists every tool, hidden ones too, and what is wrong", async () => {
    const answer = await raw(gateway, "/state");
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        mcp_servers: [
          {
            name: "gateway",
            tools: [
              {
                name: "list_website_urls",
                description: "List available website URLs that can be browsed.",
                parameters: { type: "object", properties: {} },
              },
            ],
          },
          {
            name: "items",
            tools: [
              { name: "items_add", description: "Add.", parameters: { type: "object", properties: { a: {} } } },
              { name: "items_secret", description: "", parameters: { type: "object" } },
            ],
          },
        ],
        changelog_id: null,
        roles: {},
        tool_name_clashes: {},
        servers: [
          {
            name: "items",
            kind: "mcp",
            status: "up",
            reason: null,
            since: expect.stringMatching(/Z$/),
            tools: 2,
            warnings: ['tools/list: "items_bad" is not listed: it has no name or no inputSchema of type object'],
          },
          { name: "shop", kind: "website", status: "up", reason: null, since: expect.stringMatching(/Z$/), tools: 0 },
        ],
      },
    ]);
  });

  test("list_website_urls gives the addresses that the agent's browser can open", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_website_urls" } });
    const answer = await raw(gateway, "/mcp", { method: "POST", headers: { "content-type": "application/json" }, body });
    expect((answer.json() as { result: unknown }).result).toEqual({
      content: [{ type: "text", text: "http://shop-website-frontend/" }],
      structuredContent: { result: ["http://shop-website-frontend/"] },
      isError: false,
    });
  });

  test("HEAD is answered as GET without a body, a wrong method is 405 with Allow, an unknown route 404", async () => {
    for (const path of ["/health", "/ready", "/state", CARD_PATH, "/state/"]) {
      const head = await raw(gateway, path, { method: "HEAD" });
      expect([path, head.status, head.text]).toEqual([path, 200, ""]);
    }
    for (const path of ["/health", "/state", CARD_PATH]) {
      const post = await raw(gateway, path, { method: "POST" });
      expect([path, post.status, post.header("allow"), post.json()]).toEqual([path, 405, "GET, HEAD", { error: "Method not allowed" }]);
    }
    for (const path of ["/", "/nope", "/State", "//state", "/svc", "/.well-known/oauth-authorization-server", "/cdn-cgi/explorer"])
      expect([path, (await raw(gateway, path)).status]).toEqual([path, 404]);
  });

  test("V45 a child whose card fails after it was read is still there, and gone after its 404", async () => {
    const names = async () => (await children()).map(({ name }) => name);
    shopCard = { status: 500, body: "down" };
    await until("the failure was seen", 15_000, async () => {
      await names();
      return (await raw(gateway, "/state")).text.includes("HTTP 500");
    });
    expect(await names()).toEqual(["items", "shop"]);
    shopCard = { status: 404, body: "" };
    await until("the card is gone", 15_000, async () => (await names()).length === 1);
    expect(await names()).toEqual(["items"]);
  });
});
