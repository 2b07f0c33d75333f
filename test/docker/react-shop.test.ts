import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentEnv, agentEnv } from "../fixtures/agent-env.ts";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { type Kept, type KeptRun, keptRun } from "../fixtures/kept-run.ts";
import { noEngine } from "./support.ts";

describe.skipIf(noEngine)(`examples/react-shop${noEngine === undefined ? "" : ` (${noEngine})`}`, () => {
  let cli: AgentEnv;
  let run: KeptRun;
  let shop: Kept;
  beforeAll(async () => {
    cli = agentEnv();
    run = keptRun(cli, "examples/react-shop", "--min-score", "1");
    shop = await run.up;
  });
  afterAll(async () => {
    await run.stop();
    cli.remove();
  });

  test("B2.1 W1.1 is built with npm and Vite, served by nginx, and its verifier passes", () => {
    expect(shop.out).toContain("tasks/order.json: verify: scored 1, 4 of 4 rows passed");
  });

  describe.skipIf(noChromium !== "")(`in a browser${noChromium && ` (${noChromium})`}`, () => {
    const agent = new Client({ name: "agent", version: "1" });
    let browser: Browser;
    beforeAll(async () => {
      await agent.connect(new StreamableHTTPClientTransport(new URL(`${shop.base}/mcp`)));
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser.close();
      await agent.close();
    });

    test.each([
      ["under a prefix", () => `${shop.base}/website/shop/`],
      ["on a host of its own", () => `http://shop--${shop.id}.localhost:${new URL(shop.base).port}/`],
    ])("W1.1 N5 %s an open page shows what a tool orders, and a tool what the page orders", async (_mode, address) => {
      const page = await browser.newPage();
      await page.goto(address());
      await page.waitForSelector("ol > li");
      const before = await page.locator("ol > li").count();

      await agent.callTool({ name: "shop_place_order", arguments: { product: "tea", quantity: before } });
      await page.waitForSelector(`ol > li:nth-child(${before + 1})`);
      expect(await page.textContent("ol > li:last-child")).toMatch(`${before} × tea`);

      await page.click("text=Order coffee");
      await page.waitForSelector(`ol > li:nth-child(${before + 2})`);
      const { structuredContent } = await agent.callTool({ name: "shop_list_orders", arguments: {} });
      expect(structuredContent).toMatchObject({ result: { length: before + 2, [before + 1]: { product: "coffee", quantity: 1 } } });
      expect(await page.locator("[role=alert]").count()).toBe(0);
      await page.close();
    });
  });
});
