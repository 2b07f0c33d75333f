import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deployEnv } from "../../build-service/src/deploy/deploy.ts";
import type { DeployContext } from "../../build-service/src/deploy/deployment.ts";
import { toolNames } from "../../build-service/src/deploy/mcp-tools.ts";
import { until } from "../fixtures/until.ts";
import { type Deployed, deployed, healthOf, shopSite, watchSite } from "./story-support.ts";
import { deployOptions, envOf, noEngine, testBed } from "./support.ts";

const TOOLS = ["list_website_urls", "place_order", "count_orders"];
const DOWN_MS = 20_000;

describe.skipIf(noEngine)("a site that is down when its gateway starts", { concurrent: true }, () => {
  let place: Awaited<ReturnType<typeof testBed>>;
  beforeAll(async () => {
    place = await testBed();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  /** An env of the shop, deployed. Its backend does something `before` it listens. */
  async function deployedShop(before: string, context: Partial<DeployContext>): Promise<Deployed & { readonly mcpUrl: string }> {
    const env = { ...envOf([await shopSite(place.store, before)]), type: "website", shape: "website" as const };
    const { record } = await deployEnv(deployOptions(env), { ...place, ...context });
    return { ...deployed(String(record.deployment_id), String(record.gateway_url)), mcpUrl: String(record.mcp_url) };
  }

  test("W7.4 for 20 s is waited for: the gateway is up within 3 s of its answer, with its tools", async () => {
    const answeredAt = new Map<string, number>();
    const shop = await deployedShop(`sleep ${DOWN_MS / 1000 + 2}`, {
      emit(event) {
        const [, service] =
          event.kind === "deploy" && event.phase === "probe" ? (/^(\S+) (is ready|answers) /.exec(event.message) ?? []) : [];
        if (service !== undefined) answeredAt.set(service, Date.now());
      },
    });
    const { State: gateway, RestartCount: restarts } = await shop.container("gateway").inspect();
    const site = answeredAt.get("shop-website-backend") ?? Number.NaN;
    expect(site - Date.parse(gateway.StartedAt)).toBeGreaterThan(DOWN_MS);
    expect(Number(answeredAt.get("gateway")) - site).toBeLessThan(3_000);
    expect(restarts).toBe(0);
    expect(await toolNames(shop.mcpUrl, place.signal)).toEqual(TOOLS);
  });

  test("W7.4 for longer than the limit ends the gateway with its name, which is restarted, and ready within 5 s of its return", async () => {
    const limitS = 5;
    const shop = await deployedShop("true", { gatewaySettings: { GATEWAY_INTERNAL_SERVER_TIMEOUT_S: String(limitS) } });
    const [site, gateway] = [shop.container("shop-website-backend"), shop.container("gateway")];
    await site.stop({ t: 10 });
    await gateway.restart({ t: 10 });
    const restarts = async () => (await gateway.inspect()).RestartCount;
    expect(await restarts()).toBe(0);
    await using watch = await watchSite(shop, "shop");
    await until("the gateway is restarted", 60_000, async () => (await restarts()) > 0);
    const log = String(await gateway.logs({ stdout: false, stderr: true, follow: false }));
    expect(log).toContain(`Website card(s) not readable after ${limitS}s: shop (name not found)\n`);
    await site.start();
    await watch.answered;
    await until("the gateway is ready", 5_000, async () => (await healthOf(shop)).status === 200);
    expect(await toolNames(shop.mcpUrl, place.signal)).toEqual(TOOLS);
  });
});
