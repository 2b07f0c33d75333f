import { afterAll, describe, expect, test } from "vitest";
import { connected, rawTo, said } from "../../fixtures/gateway/client.ts";
import { endHosts } from "../../fixtures/gateway/hosts.ts";
import { mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { card, recorder } from "../../fixtures/gateway/recorder.ts";
import { startWorkerHost } from "../../fixtures/gateway/worker-host.ts";

afterAll(endHosts);

describe("one Worker serves many deployments", () => {
  test("by path, by host, and each its own", async () => {
    const servers = await Promise.all(["one", "two"].map((name) => mcpFixture({ name, tools: [[{ name: "who" }, () => text(name)]] })));
    const gateways = await Promise.all(
      servers.map((server) => startWorkerHost({ record: { servers: [{ name: "items", kind: "mcp", url: server.url }] } })),
    );
    const names = await Promise.all(
      gateways.map(async (gateway) => {
        const client = await connected(gateway);
        const name = said(await client.callTool({ name: "who" }));
        await client.close();
        return name;
      }),
    );
    expect([names, gateways[0]?.port === gateways[1]?.port]).toEqual([["one", "two"], true]);
    const [gateway] = gateways;
    const byHost = await rawTo(gateway?.port ?? 0, "/health", { headers: { host: `${gateway?.deployment}.localhost:8787` } });
    expect([byHost.status, byHost.json()]).toEqual([200, { status: "ok" }]);
    await Promise.all(servers.map((server) => server.close()));
  });

  test("a site has a host of its own, where it is at / and its paths are the same", async () => {
    const shop = await recorder({
      card: () => ({ status: 200, body: card("shop") }),
      answer: (_request, response) =>
        response
          .writeHead(302, ["location", "/login", "set-cookie", "a=1; Path=/; Domain=x", "strict-transport-security", "max-age=1"])
          .end(),
    });
    const server = { name: "shop", kind: "website" as const, url: shop.url, frontend_url: shop.url };
    const gateway = await startWorkerHost({ record: (deployment) => ({ servers: [{ ...server, label: `shop--${deployment}` }] }) });
    const answer = await rawTo(gateway.port, "/x/../y?z", { headers: { host: `shop--${gateway.deployment}.localhost:8787` } });
    expect([answer.status, shop.received.at(-1)?.target]).toEqual([302, "/y?z"]);
    expect(["location", "set-cookie", "strict-transport-security"].map((name) => answer.header(name))).toEqual([
      "/login",
      "a=1; Path=/",
      "max-age=1",
    ]);
    expect((await rawTo(gateway.port, "/agentenv", { headers: { host: `shop--${gateway.deployment}.localhost` } })).status).toBe(404);
    await shop.close();
  });

  test("N5 a shortened label is read from the record of the deployment that stands in it", async () => {
    const site = await recorder({ card: () => ({ status: 200, body: card("my_shop") }) });
    const server = { name: "my_shop", kind: "website" as const, url: site.url, frontend_url: site.url };
    const gateway = await startWorkerHost({
      record: (deployment) => ({ servers: [{ ...server, label: `myshop--${deployment}-0123abcd` }] }),
    });
    const status = async (label: string) => (await rawTo(gateway.port, "/x", { headers: { host: `${label}.localhost` } })).status;
    expect([await status(`myshop--${gateway.deployment}-0123abcd`), site.received.at(-1)?.target]).toEqual([200, "/x"]);
    expect([await status(`myshop--${gateway.deployment}-ffffffff`), await status(`other--${gateway.deployment}-0123abcd`)]).toEqual([
      404, 404,
    ]);
    await site.close();
  });

  test("an unknown deployment is 404, a foreign Host 403", async () => {
    const { port } = await startWorkerHost({ record: { servers: [] } });
    const ask = async (path: string, host?: string) => (await rawTo(port, path, host === undefined ? {} : { headers: { host } })).status;
    expect([
      await ask("/d/nope/health"),
      await ask("/health"),
      await ask("/health", "nope.localhost"),
      await ask("/health", "evil.example"),
      await ask("/d/nope/health", "x--y.localhost.evil.example"),
    ]).toEqual([404, 404, 404, 403, 403]);
  });
});
