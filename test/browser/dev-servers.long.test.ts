import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchBrowser } from "../../build-service/src/check-site/browser.ts";
import { CHROMIUM, noChromium } from "../fixtures/chromium.ts";
import { type DevServer, noDevServers, startNextApp, startReactApp } from "../fixtures/dev-servers.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";
import { until } from "../fixtures/until.ts";
import { checked, siteOf } from "./check-site-support.ts";

const why = noDevServers || noChromium;
const START = { timeout: 240_000 };
const CHANGE_BUDGET_MS = 60_000;

type App = {
  readonly site: "next" | "react";
  /** Where hot reload's socket is, and what it says first to a page that it serves. */
  readonly socket: string;
  readonly greeting: RegExp;
  /** The heading that a browser shows under the prefix. */
  readonly heading: string;
  readonly finds: readonly unknown[];
};

const APPS: readonly App[] = [
  {
    // It compares the addresses in its pages with those that its scripts would make, and tells of the difference.
    site: "next",
    socket: "/_next/hmr",
    greeting: /turbopack-connected/,
    heading: "Home",
    finds: [
      "escape: font /__nextjs_font/geist-latin.woff2 left the prefix: the gateway sent it back by its Referer",
      expect.stringMatching(/^console-error: A tree hydrated but some attributes .* \(only under the prefix\)$/),
    ],
  },
  {
    // It shows what `location.pathname` says.
    site: "react",
    socket: "/ws",
    greeting: /"type":"hot"/,
    heading: "No such page",
    finds: [
      'text-differs: page /: "Home" in host mode, "No such page" under the prefix',
      'text-differs: page /cart: "Cart" in host mode, "No such page" under the prefix',
    ],
  },
];

describe.skipIf(why !== "")(`N5 case 43 development servers of others in a browser${why && ` (${why})`}`, () => {
  let browser: Browser;
  let servers: Readonly<Record<App["site"], DevServer>>;
  const running: DevServer[] = [];
  beforeAll(async () => {
    browser = await launchBrowser(CHROMIUM, []);
    // One after the other: each fills all processors while it starts.
    const next = await startNextApp();
    running.push(next);
    const react = await startReactApp();
    running.push(react);
    servers = { next, react };
  }, START.timeout);
  afterAll(async () => {
    await Promise.all([browser?.close(), endHosts(), ...running.map((server) => server.close())]);
  });

  describe.each(HOSTS)("on the $host host", ({ start }) => {
    let gateway: RunningGateway;
    let backend: Recorder;
    let page: Page;
    beforeAll(async () => {
      backend = await recorder({ card: () => ({ status: 200, body: card("site") }) });
      const sites = Object.entries(servers).map(([name, { url }]) => ({
        name,
        kind: "website" as const,
        url: backend.url,
        frontend_url: url,
      }));
      gateway = await start({
        record: (deployment) => ({ servers: sites.map((site) => ({ ...site, label: `${site.name}--${deployment}` })) }),
      });
    });
    afterAll(async () => {
      await gateway.stop();
      await backend.close();
    });
    beforeEach(async () => {
      page = await (await browser.newContext()).newPage();
      return () => page.context().close();
    });

    /** Presses the button until it counts, since a page that its server made is there before its scripts are. */
    const clicked = () =>
      until("a click counts", 20_000, async () => {
        await page.click("button");
        return (await page.textContent("button")) !== "clicked 0";
      });
    const isSamePage = () => page.evaluate<unknown>("window.isSame === true");

    test.each(APPS)(
      "$site works on a host of its own: its scripts, its routes, and hot reload",
      START,
      async ({ site, socket, greeting }) => {
        const base = siteOf(gateway, site).host?.replace(/\/$/, "");
        const failed: string[] = [];
        page.on("pageerror", (error) => failed.push(error.message));
        page.on("response", (response) => {
          if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
        });
        const greeted = new Promise((resolve) =>
          page.on("websocket", (opened) =>
            opened.on("framereceived", ({ payload }) => {
              if (greeting.test(String(payload))) resolve(opened.url().replace(/\?.*/, ""));
            }),
          ),
        );
        await page.goto(`${base}/`);
        await page.waitForSelector("h1:text('Home')");
        await page.evaluate("window.isSame = true");
        expect(await greeted).toBe(`${base?.replace("http", "ws")}${socket}`);
        expect([
          await page.evaluate("getComputedStyle(document.querySelector('h1')).color"),
          await page.evaluate("document.querySelector('img').naturalWidth"),
        ]).toEqual(["rgb(1, 2, 3)", 3]);
        await clicked();

        await page.click("text=cart");
        await page.waitForSelector("h1:text('Cart')");
        expect([page.url(), await isSamePage()]).toEqual([`${base}/cart`, true]);
        await page.goBack();
        await page.waitForSelector("h1:text('Home')");
        expect([page.url(), await isSamePage()]).toEqual([`${base}/`, true]);

        for (const title of ["Changed", "Home"]) {
          servers[site].retitle(title);
          await page.waitForSelector(`h1:text('${title}')`, { timeout: CHANGE_BUDGET_MS });
        }
        expect(await isSamePage()).toBe(true);
        await page.goto(`${base}/cart`);
        await page.waitForSelector("h1:text('Cart')");
        expect(failed.filter((each) => !each.endsWith("/favicon.ico"))).toEqual([]);
      },
    );

    test.each(APPS)(
      "what check-site says of $site under a prefix is what a browser shows there",
      START,
      async ({ site, socket, heading, finds }) => {
        const up = siteOf(gateway, site);
        const opened = page.waitForEvent("websocket");
        await page.goto(up.prefix);
        await page.waitForSelector(`h1:text('${heading}')`);
        expect((await opened).url().replace(/\?.*/, "")).toBe(`${up.prefix.replace("http", "ws")}${socket.slice(1)}`);
        await page.evaluate("window.isSame = true");
        await clicked();
        await page.click("text=cart");
        await page.waitForURL(`${up.prefix}cart`);
        expect(await isSamePage()).toBe(true);

        const { verdict, findings } = await checked(browser, up);
        const found = findings.map(({ kind, text }) => `${kind}: ${text}`);
        expect({ verdict, found }).toEqual({ verdict: "host-only", found: finds });
      },
    );
  });
});
