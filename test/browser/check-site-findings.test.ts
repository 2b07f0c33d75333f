import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "../../build-service/src/check-site/browser.ts";
import type { StageEvent } from "../../build-service/src/report/events.ts";
import { CHROMIUM, noChromium } from "../fixtures/chromium.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";
import type { RunningSite } from "../fixtures/real-sites.ts";
import { until } from "../fixtures/until.ts";
import { BROKEN } from "./check-site-broken.ts";
import { type Answer, checked, siteOf, startSite } from "./check-site-support.ts";

/** A front end that sees its prefix, and makes its root-relative links with what its viewer has before it. */
const keepsPrefix: Answer = ({ url = "", headers }, response) => {
  const prefix = String(headers["x-forwarded-prefix"] ?? "");
  const path = prefix === "" ? url : url.replace(/^\/website\/keep(?=\/)/, "");
  const title = { "/": "home", "/b": "second" }[path];
  if (title === undefined || (prefix !== "" && path === url)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>${title}</title><a href="${prefix}/b">b</a>`);
};

afterAll(endHosts);

describe.skipIf(noChromium !== "").each(HOSTS)(
  `N5 sites that are good on a host of their own only, on the $host host${noChromium && ` (${noChromium})`}`,
  ({ host, start }) => {
    const sites = BROKEN.filter(({ onBothHosts }) => onBothHosts || host === "node");
    let gateway: RunningGateway;
    let backend: Recorder;
    let browser: Browser;
    let running: readonly RunningSite[];
    beforeAll(async () => {
      backend = await recorder({ card: () => ({ status: 200, body: card("site") }) });
      running = await Promise.all([...sites.map(({ paths }) => startSite(paths)), startSite({ "*": keepsPrefix })]);
      gateway = await start({
        record: (deployment) => ({
          sites: { keep: { prefix: "keep" as const } },
          servers: [...sites.map(({ site }) => site), "keep"].map((name, at) => {
            const frontend_url = running[at]?.url ?? "";
            return { name, kind: "website" as const, url: backend.url, frontend_url, label: `${name}--${deployment}` };
          }),
        }),
      });
      browser = await launchBrowser(CHROMIUM, []);
    });
    afterAll(async () => {
      await browser.close();
      await gateway.stop();
      await Promise.all([backend.close(), ...running.map((site) => site.close())]);
    });

    test("a front end that owns its prefix is good in any mode, and nothing else is tried with it", async () => {
      const events: StageEvent[] = [];
      const { verdict, findings, host: own, prefix } = await checked(browser, siteOf(gateway, "keep", { keepsPrefix: true }), { events });
      expect({ verdict, findings }).toEqual({ verdict: "any", findings: [] });
      for (const mode of [own, prefix])
        expect(mode?.pages.map(({ path, title }) => [path, title])).toEqual([
          ["/", "home"],
          ["/b", "second"],
        ]);
      expect(events.filter((event) => event.kind === "log" && event.level === "info")).toHaveLength(2);
    });

    test.each(sites)(
      "$site: a browser shows it, and check-site says it",
      async ({ site, looks, acts = "", finds, notes: notesOf = [] }) => {
        const up = siteOf(gateway, site);
        const shown = async (base: string, expected: unknown): Promise<unknown> => {
          const context = await browser.newContext();
          const page = await context.newPage();
          let failure: string | undefined;
          page.on("requestfailed", (request) => {
            failure = request.failure()?.errorText;
          });
          const [opened] = await Promise.allSettled([page.goto(base + looks.at, { waitUntil: "networkidle" })]);
          const see = () => page.evaluate<unknown>(looks.shows);
          // Not by the page's own polling (waitForFunction): a strict policy forbids that from the second time on.
          const wait = () => until(looks.shows, 5_000, async () => (await see()) === expected);
          if (opened.status === "fulfilled") await Promise.allSettled([wait()]);
          const what = opened.status === "rejected" ? failure : await see();
          await context.close();
          return what;
        };
        expect({ host: await shown(up.host ?? "", looks.host), prefix: await shown(up.prefix, looks.prefix) }).toEqual({
          host: looks.host,
          prefix: looks.prefix,
        });

        const { verdict, findings, notes } = await checked(browser, up, { acts });
        const prefix = `${gateway.prefix}/website/${site}`;
        const found = findings.map(({ advice: _advice, mode: _mode, pages: _pages, ...finding }) => ({
          ...finding,
          text: finding.text.replaceAll(prefix, "<prefix>"),
        }));
        expect({ verdict, found, notes }).toEqual({ verdict: "host-only", found: finds, notes: notesOf });
        for (const { mode, advice } of findings) expect([mode, advice]).toEqual(["prefix", expect.stringMatching(/\w/)]);
      },
    );
  },
);
