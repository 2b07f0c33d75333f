import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noEngine } from "../docker/support.ts";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";
import { STATIC_FILES, startNginx } from "../fixtures/nginx.ts";
import type { RunningSite } from "../fixtures/real-sites.ts";

const why = noEngine ?? noChromium;

afterAll(endHosts);

describe.skipIf(why !== "").each(HOSTS)(`N5 case 43 nginx in a browser, on the $host host${why && ` (${why})`}`, ({ start }) => {
  let site: RunningSite;
  let backend: Recorder;
  let gateway: RunningGateway;
  let browser: Browser;
  beforeAll(async () => {
    site = await startNginx(STATIC_FILES);
    backend = await recorder({ card: () => ({ status: 200, body: card("docs") }) });
    const server = { name: "docs", kind: "website" as const, url: backend.url, frontend_url: site.url };
    gateway = await start({ record: (deployment) => ({ servers: [{ ...server, label: `docs--${deployment}` }] }) });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await Promise.all([site.close(), backend.close()]);
  });

  test.each(["host", "prefix"] as const)("its pages, and the redirect to a folder's slash, in %s mode", async (mode) => {
    const { port, prefix, deployment } = gateway;
    const base = mode === "host" ? `http://docs--${deployment}.localhost:${port}` : `http://localhost:${port}${prefix}/website/docs`;
    const page = await (await browser.newContext()).newPage();
    const failed: string[] = [];
    page.on("response", (response) => {
      if (response.status() >= 400 && !response.url().endsWith("/favicon.ico")) failed.push(`${response.status()} ${response.url()}`);
    });
    const color = () => page.evaluate("getComputedStyle(document.querySelector('h1')).color");
    await page.goto(`${base}/`);
    expect([await color(), await page.evaluate("document.querySelector('img').naturalWidth")]).toEqual(["rgb(1, 2, 3)", 3]);
    await page.click("a");
    expect([page.url(), await page.textContent("h1"), await color()]).toEqual([`${base}/docs/`, "Docs", "rgb(1, 2, 3)"]);
    await page.click("a");
    await page.reload();
    expect([page.url(), failed]).toEqual([`${base}/`, []]);
    await page.context().close();
  });
});
