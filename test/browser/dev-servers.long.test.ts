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
  /** What a browser shows under the prefix: the heading, whether a click counts, whether its socket opens. */
  readonly prefix: { readonly heading: string; readonly counts: boolean; readonly opens: boolean };
  /** What check-site says of that, without the names that the server makes. */
  readonly finds: readonly string[];
};

const APPS: readonly App[] = [
  {
    // Its scripts look themselves up by the address in their own `src`, which is another under a prefix, and never begin.
    site: "next",
    socket: "/_next/hmr",
    greeting: /turbopack-connected/,
    prefix: { heading: "Home", counts: false, opens: false },
    finds: [
      "missing: socket /_next/hmr: opened in host mode, and never under the prefix",
      "missing: script /_next/static/chunks/…: asked for in host mode, and never under the prefix",
    ],
  },
  {
    // It shows what `location.pathname` says.
    site: "react",
    socket: "/ws",
    greeting: /"type":"hot"/,
    prefix: { heading: "No such page", counts: true, opens: true },
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
      async ({ site, prefix, finds }) => {
        const up = siteOf(gateway, site);
        let opens = false;
        page.on("websocket", (opened) => opened.on("framereceived", () => (opens = true)));
        await page.goto(up.prefix, { waitUntil: "networkidle" });
        await page.waitForSelector(`h1:text('${prefix.heading}')`);
        if (prefix.counts) await clicked();
        else await page.click("button");
        await page.evaluate("window.isSame = true");
        const counts = (await page.textContent("button")) !== "clicked 0";
        await page.click("text=cart");
        await page.waitForURL(`${up.prefix}cart`);
        expect({ counts, opens, routes: await isSamePage() }).toEqual({
          counts: prefix.counts,
          opens: prefix.opens,
          routes: prefix.counts,
        });

        const { verdict, findings } = await checked(browser, up);
        const found = findings.map(({ kind, text }) => `${kind}: ${text.replace(/(?<=\/_next\/static\/chunks\/)[^\s:]+/, "…")}`);
        expect({ verdict, found }).toEqual({ verdict: "host-only", found: finds });
      },
    );
  });
});
