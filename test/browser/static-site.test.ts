import { buffer } from "node:stream/consumers";
import type { Browser } from "playwright-core";
import { pack } from "tar-stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docker, noEngine } from "../docker/support.ts";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";
import { until } from "../fixtures/until.ts";

const FILES = {
  "index.html":
    '<!doctype html><title>Static</title><link rel="stylesheet" href="/css/a.css"><h1>Home</h1><a href="/docs">docs</a><img src="/i.svg">',
  "docs/index.html": '<!doctype html><title>Docs</title><link rel="stylesheet" href="../css/a.css"><h1>Docs</h1><a href="/">home</a>',
  "css/a.css": "h1 { color: rgb(1, 2, 3) }",
  "i.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="3"/>',
};
const why = noEngine ?? noChromium;

/** nginx with these files, on a free port of this machine. */
async function nginx(files: Readonly<Record<string, string>>): Promise<{ url: string; remove(): Promise<unknown> }> {
  const container = await docker.createContainer({
    Image: "nginx:stable",
    HostConfig: { PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }] } },
  });
  const tar = pack();
  for (const [name, text] of Object.entries(files)) tar.entry({ name, mode: 0o644 }, text);
  tar.finalize();
  await container.putArchive(await buffer(tar), { path: "/usr/share/nginx/html" });
  await container.start();
  const { NetworkSettings } = await container.inspect();
  const url = `http://127.0.0.1:${NetworkSettings.Ports["80/tcp"]?.[0]?.HostPort}`;
  await until("nginx answers", 20_000, async () => (await fetch(url).catch(() => null))?.ok === true);
  return { url, remove: () => container.remove({ force: true, v: true }) };
}

afterAll(endHosts);

describe.skipIf(why !== "").each(HOSTS)(`N5 case 43 nginx in a browser, on the $host host${why && ` (${why})`}`, ({ start }) => {
  let site: Awaited<ReturnType<typeof nginx>>;
  let backend: Recorder;
  let gateway: RunningGateway;
  let browser: Browser;
  beforeAll(async () => {
    site = await nginx(FILES);
    backend = await recorder({ card: () => ({ status: 200, body: card("docs") }) });
    const server = { name: "docs", kind: "website" as const, url: backend.url, frontend_url: site.url };
    gateway = await start({ record: (deployment) => ({ servers: [{ ...server, label: `docs--${deployment}` }] }) });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await Promise.all([site.remove(), backend.close()]);
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
