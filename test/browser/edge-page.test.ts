import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { type Edge, helloBehindEdge } from "../fixtures/edge.ts";

describe.skipIf(noChromium !== "")(`a browser at the printed address${noChromium ? ` (${noChromium})` : ""}`, () => {
  let edge: Edge;
  let browser: Browser;
  beforeAll(async () => {
    edge = await helloBehindEdge();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await edge.stop();
  });

  test("shows the site's page, and what its form has done", async () => {
    const page = await browser.newPage();
    await page.goto(edge.deployment.website_frontend_urls.guestbook);
    expect(await page.title()).toBe("Guestbook");
    await page.fill("input[name=author]", "Ada");
    await page.fill("input[name=text]", "<b>seen</b> in a browser");
    await page.click("button");
    await page.waitForSelector("li");
    expect(page.url()).toBe(edge.deployment.website_frontend_urls.guestbook);
    expect(await page.textContent("ol")).toContain("Ada wrote “<b>seen</b> in a browser”");
  });

  test("W3.1 gets 404 where the site's tools are", async () => {
    const page = await browser.newPage();
    const answer = await page.goto(`${edge.deployment.website_frontend_urls.guestbook}mcp`);
    expect(answer?.status()).toBe(404);
  });
});
