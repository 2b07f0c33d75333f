import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser } from "../../build-service/src/check-site/browser.ts";
import { walk } from "../../build-service/src/check-site/walk.ts";
import { CHROMIUM, noChromium } from "../fixtures/chromium.ts";
import type { RunningSite } from "../fixtures/real-sites.ts";
import { type Answer, startSite } from "./check-site-support.ts";

/** Later than a page is quiet, and sooner than a stream's first message is given up. */
const LATE_MS = 500;
/** What is read by then was not waited for as what goes on asking is. */
const LONGEST_S = 5;

const page = (script: string): Answer => ["text/html", `<!doctype html><p id="out">nothing yet</p><script>${script}</script>`];
const ofStream = (query: string) => page(`new EventSource("/events${query}").onmessage = ({ data }) => { out.textContent = data; };`);
const ofSocket = (query: string) =>
  page(`new WebSocket("ws://" + location.host + "/ws${query}").onmessage = ({ data }) => { out.textContent = data; };`);

/** An event stream of one message, or of none. */
const events: Answer = ({ url = "" }, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  const after = new URL(url, "http://site").searchParams.get("after");
  if (after !== null) setTimeout(() => response.write("data: hello\n\n"), Number(after));
};

describe.skipIf(noChromium !== "")(`N5 when a page is read that keeps a stream open${noChromium && ` (${noChromium})`}`, () => {
  let site: RunningSite;
  let browser: Browser;
  beforeAll(async () => {
    site = await startSite({
      "/stream": ofStream(`?after=${LATE_MS}`),
      "/silent-stream": ofStream(""),
      "/socket": ofSocket(`?after=${LATE_MS}`),
      "/silent-socket": ofSocket(""),
      "/events": events,
    });
    browser = await launchBrowser(CHROMIUM, []);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const read = async (path: string) => {
    const { pages, seconds } = await walk({
      browser,
      address: { mode: "host", base: `${site.url}/` },
      entrance: null,
      headers: {},
      acts: [],
      pages: { these: [path] },
      signal: new AbortController().signal,
      onPage: () => true,
    });
    return { text: pages.map(({ text }) => text.join()), seconds };
  };

  test.each(["/stream", "/socket"])("%s: with a first message that comes after a while", async (path) => {
    expect((await read(path)).text).toEqual(["hello"]);
  });

  test.each(["/silent-stream", "/silent-socket"])("%s: without one, when none has come", async (path) => {
    const { text, seconds } = await read(path);
    expect(text).toEqual(["nothing yet"]);
    expect(seconds).toBeLessThan(LONGEST_S);
  });
});
