import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";
import { type RunningSite, startLoginSite, startViteApp } from "../fixtures/real-sites.ts";

afterAll(endHosts);

describe.skipIf(noChromium !== "").each(HOSTS)(
  `N5 case 43 real sites in a browser, on the $host host${noChromium && ` (${noChromium})`}`,
  ({ start }) => {
    let gateway: RunningGateway;
    let backend: Recorder;
    let running: readonly RunningSite[];
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
      const [app, login] = await Promise.all([startViteApp(), startLoginSite()]);
      running = [app, login];
      backend = await recorder({ card: () => ({ status: 200, body: card("site") }) });
      const site = (name: string, { url }: RunningSite) => ({ name, kind: "website" as const, url: backend.url, frontend_url: url });
      const sites = [site("app", app), site("login", login)];
      gateway = await start({
        record: (deployment) => ({ servers: sites.map((each) => ({ ...each, label: `${each.name}--${deployment}` })) }),
      });
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser.close();
      await gateway.stop();
      await Promise.all([backend.close(), ...running.map((site) => site.close())]);
    });
    beforeEach(async () => {
      page = await (await browser.newContext()).newPage();
      return () => page.context().close();
    });
    const root = (mode: "host" | "prefix", site: string): string =>
      mode === "host"
        ? `http://${site}--${gateway.deployment}.localhost:${gateway.port}`
        : `http://localhost:${gateway.port}${gateway.prefix}/website/${site}`;

    test.each(["host", "prefix"] as const)("a Vite development server with an app that routes by history, in %s mode", async (mode) => {
      const base = root(mode, "app");
      const failed: string[] = [];
      page.on("pageerror", (error) => failed.push(error.message));
      page.on("response", (response) => {
        if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
      });
      const greeting = new Promise((resolve) =>
        page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => resolve(payload))),
      );
      await page.goto(`${base}/`);
      await page.waitForSelector("h1");
      expect([await page.textContent("h1"), await page.evaluate("getComputedStyle(document.querySelector('main')).color")]).toEqual([
        "Home",
        "rgb(1, 2, 3)",
      ]);
      expect(await greeting).toBe('{"type":"connected"}');
      await page.click("text=cart");
      await page.waitForSelector("h1:text('Cart')");
      expect(page.url()).toBe(`${base}/cart`);
      await page.reload();
      await page.waitForSelector("h1:text('Cart')");
      await page.goBack();
      await page.waitForSelector("h1:text('Home')");
      expect([page.url(), failed.filter((each) => !each.endsWith("/favicon.ico"))]).toEqual([`${base}/`, []]);
    });

    test.each(["host", "prefix"] as const)("a site that is made on its server, with a login, in %s mode", async (mode) => {
      const base = root(mode, "login");
      await page.goto(`${base}/`);
      expect(page.url()).toBe(`${base}/login`);
      await page.fill("input", "ada");
      await page.click("button");
      expect([page.url(), await page.textContent("h1")]).toEqual([`${base}/`, "Hello ada"]);
      await page.click("a");
      expect(page.url()).toBe(`${base}/login`);
      expect(await page.context().cookies()).toEqual([]);
    });
  },
);
