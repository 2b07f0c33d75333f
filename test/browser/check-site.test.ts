import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "../../build-service/src/check-site/browser.ts";
import type { StageEvent } from "../../build-service/src/report/events.ts";
import { noEngine } from "../docker/support.ts";
import { CHROMIUM, noChromium } from "../fixtures/chromium.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";
import { STATIC_FILES, startNginx } from "../fixtures/nginx.ts";
import { type RunningSite, startLoginSite, startViteApp } from "../fixtures/real-sites.ts";
import { checked, siteOf } from "./check-site-support.ts";

const why = noEngine ?? noChromium;

afterAll(endHosts);

describe.skipIf(why !== "").each(HOSTS)(
  `N5 case 43 what check-site says of real sites, on the $host host${why && ` (${why})`}`,
  ({ start }) => {
    let gateway: RunningGateway;
    let backend: Recorder;
    let running: readonly RunningSite[];
    let browser: Browser;
    beforeAll(async () => {
      const [app, login, docs] = await Promise.all([startViteApp(), startLoginSite(), startNginx(STATIC_FILES)]);
      running = [app, login, docs];
      backend = await recorder({ card: () => ({ status: 200, body: card("site") }) });
      const site = (name: string, { url }: RunningSite) => ({ name, kind: "website" as const, url: backend.url, frontend_url: url });
      const sites = [site("app", app), site("login", login), site("docs", docs)];
      gateway = await start({
        record: (deployment) => ({ servers: sites.map((each) => ({ ...each, label: `${each.name}--${deployment}` })) }),
      });
      browser = await launchBrowser(CHROMIUM, []);
    });
    afterAll(async () => {
      await browser.close();
      await gateway.stop();
      await Promise.all([backend.close(), ...running.map((site) => site.close())]);
    });

    test("nginx with root-relative URLs is prefix-with-shim, each page opened in the same way in both modes", async () => {
      const { verdict, findings, reasons, host, prefix } = await checked(browser, siteOf(gateway, "docs"));
      expect({ verdict, findings }).toEqual({ verdict: "prefix-with-shim", findings: [] });
      expect(reasons[0]).toMatch(/^without L3: (style sheet|image|link) /);
      const pages = ["/", "/docs"];
      expect([host?.pages.map(({ path }) => path), prefix?.pages.map(({ path }) => path)]).toEqual([pages, pages]);
    });

    test("an app on Vite's development server, its history and its socket, is prefix-with-shim", async () => {
      const { verdict, findings, prefix } = await checked(browser, siteOf(gateway, "app"), {
        acts: 'click "text=cart"\nwait Cart\ngoto /cart\nwait Cart\n',
      });
      expect({ verdict, findings }).toEqual({ verdict: "prefix-with-shim", findings: [] });
      expect(prefix?.pages.map(({ path }) => path)).toEqual(["line 1", "line 2", "line 3", "line 4", "/", "/cart"]);
    });

    test("a login whose policy forbids the shim is prefix-with-shim all the same, since nothing there needs it", async () => {
      const acts = 'fill "[name=user]" ada\nclick button\nwait "Hello ada"\n';
      const events: StageEvent[] = [];
      let resets = 0;
      const reset = async () => {
        resets++;
      };
      const { verdict, findings, notes } = await checked(browser, siteOf(gateway, "login"), { acts, reset, events });
      expect({ verdict, findings }).toEqual({ verdict: "prefix-with-shim", findings: [] });
      expect(notes).toEqual([expect.stringMatching(/^the Content-Security-Policy of .* forbids the shim, and nothing there needed it$/)]);
      const walks = events.flatMap((event) => (event.kind === "log" && event.level === "info" ? [event.message.replace(/: .*/, "")] : []));
      expect(walks).toEqual(["host mode", "prefix mode", "prefix mode without L3 and L4"]);
      expect(resets).toBe(3);
    });
  },
);
