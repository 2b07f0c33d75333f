import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../../fixtures/free-port.ts";
import { rawTo } from "../../../fixtures/gateway/client.ts";
import { endHosts, type RunningGateway } from "../../../fixtures/gateway/hosts.ts";
import { startNodeHost } from "../../../fixtures/gateway/node-host.ts";
import { card, type Recorder, recorder } from "../../../fixtures/gateway/recorder.ts";

afterAll(endHosts);

// Workers have no second port: behind the edge an agent's browser opens the sites' outer addresses
describe("N5 the port for the agent's browser", () => {
  let gateway: RunningGateway;
  let shop: Recorder;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    shop = await recorder({
      card: () => ({ status: 200, body: card("shop") }),
      answer: (_request, response) => void response.writeHead(302, { location: "http://shop-website-frontend/next" }).end(),
    });
    gateway = await startNodeHost({
      record: {
        browser_port: port,
        servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url, label: "shop--dep" }],
      },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await shop.close();
  });
  const ask = (host: string, path = "/x", headers: Record<string, string> = {}) => rawTo(port, path, { headers: { host, ...headers } });

  test.each(["shop-website-frontend", "shop.gateway", "SHOP.gateway:80"])("%s is the site, at /, as the role default", async (host) => {
    const answer = await ask(host, "/x?y", { "agentenv-role": "admin" });
    const sent = Object.fromEntries(shop.received.at(-1)?.headers ?? []);
    expect([
      answer.status,
      answer.header("location"),
      shop.received.at(-1)?.target,
      sent["agentenv-role"],
      sent["x-forwarded-host"],
    ]).toEqual([302, `http://${host}/next`, "/x?y", "default", host]);
  });

  test("nothing else is served there: no other host, no route of the gateway's, no reserved path", async () => {
    const before = shop.received.length;
    for (const host of ["gateway", "localhost", `127.0.0.1:${port}`, "shop--dep.localhost", "nope-website-frontend", "evil.example"])
      expect([host, (await ask(host, "/state")).status]).toEqual([host, 403]);
    for (const path of ["/agentenv", "/.well-known/agent-env.json", "/mcp/../agentenv"])
      expect((await ask("shop.gateway", path)).status).toBe(404);
    expect(shop.received.slice(before)).toEqual([]);
  });

  test("its names are no hosts of the other port", async () => {
    expect((await rawTo(gateway.port, "/", { headers: { host: "shop-website-frontend" } })).status).toBe(403);
  });
});
