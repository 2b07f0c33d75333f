import type http from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { endHosts, HOSTS } from "../fixtures/gateway/hosts.ts";
import { type Shop, startShop } from "../fixtures/gateway/shop.ts";
import { acceptWebSocket } from "../fixtures/web-socket.ts";

const HEAD = "<!doctype html><title>Shop</title>";
/** What the site serves, written as if it had the root of its host. */
const FILES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  "/": [
    "text/html",
    `${HEAD}<link rel=stylesheet href="/app.css"><script type=module src="/app.js"></script>
     <body><a id=cart href="/cart">cart</a><form action="/order" method=post><button>order</button></form>
     <iframe src="/frame"></iframe><img src="/img/a.svg"></body>`,
  ],
  "/cart": ["text/html", `${HEAD}<h1>Cart</h1><a href="/">home</a>`],
  "/order": ["text/html", `${HEAD}<h1>Ordered</h1>`],
  "/frame": ["text/html", `${HEAD}<p>frame</p><script>parent.postMessage("hello", location.origin)</script>`],
  "/app.css": ["text/css", "h1 { color: red }"],
  "/styled": ["text/html", `${HEAD}<link rel=stylesheet href="/styled.css"><body>styled</body>`],
  "/styled.css": ["text/css", "body { background: url(/img/bg.svg) }"],
  "/app.js": ["text/javascript", 'import { word } from "/lib/word.js"; document.body.dataset.word = word;'],
  "/lib/word.js": ["text/javascript", 'export const word = "imported";'],
  "/later.js": ["text/javascript", 'export const word = "later";'],
  "/worker.js": ["text/javascript", 'postMessage("worked")'],
  "/sw.js": ["text/javascript", "self.addEventListener('install', () => self.skipWaiting())"],
  "/api": ["application/json", '{"from":"api"}'],
  "/events": ["text/event-stream", "data: one\n\n"],
  "/img/a.svg": ["image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
  "/img/bg.svg": ["image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
  "/script.js": ["text/javascript", "document.body.dataset.script = 'ran'"],
};

function serve(request: http.IncomingMessage, response: http.ServerResponse): void {
  const file = FILES[(request.url ?? "").split("?")[0] ?? ""];
  if (file === undefined) return void response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
  const extra: Record<string, string> = request.url === "/sw.js" ? { "service-worker-allowed": "/" } : {};
  response.writeHead(200, { "content-type": file[0], "cache-control": "no-store", ...extra }).end(file[1]);
}

afterAll(endHosts);

describe.skipIf(noChromium !== "").each(HOSTS)(
  `N5 a site in a browser, on the $host host${noChromium && ` (${noChromium})`}`,
  ({ start }) => {
    let shop: Shop;
    let browser: Browser;
    beforeAll(async () => {
      shop = await startShop(start, { upgrade: (request, socket) => acceptWebSocket(request, socket, "hello") });
      shop.answers(serve);
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser.close();
      await shop.stop();
    });
    beforeEach(() => {
      shop.frontend.received.length = 0;
    });

    describe.each(["host", "prefix"] as const)("in %s mode", (mode) => {
      let page: Page;
      let escapesBefore: string;
      const root = () => (mode === "host" ? `http://${shop.host}` : `http://localhost:${shop.gateway.port}${shop.prefix}`);
      const escapes = async (): Promise<string> => (await shop.warnings()).filter((line) => line.includes("left the prefix")).join();
      const received = () => shop.frontend.received.map(({ method, target }) => `${method} ${target}`);
      beforeEach(async () => {
        escapesBefore = await escapes();
        page = await (await browser.newContext()).newPage();
        await page.goto(`${root()}/`);
        await page.waitForFunction("document.body.dataset.word === 'imported'");
        shop.frontend.received.length = 0;
        return () => page.context().close();
      });
      const noEscape = async () => expect(await escapes()).toBe(escapesBefore);

      test("case 25 fetch, XMLHttpRequest, Request, URL objects and beacons reach the site", async () => {
        const got = await page.evaluate(`(async () => {
        const xhr = new XMLHttpRequest();
        const loaded = new Promise((resolve) => { xhr.onload = resolve });
        xhr.open("GET", "/api?xhr"); xhr.send(); await loaded;
        navigator.sendBeacon("/api?beacon", "x");
        return [
          (await (await fetch("/api")).json()).from,
          (await (await fetch(new Request("/api?request", { method: "POST", body: "b" }))).json()).from,
          (await (await fetch(new URL("/api?url", location.origin))).json()).from,
          JSON.parse(xhr.responseText).from,
        ];
      })()`);
        expect(got).toEqual(["api", "api", "api", "api"]);
        await expect
          .poll(received)
          .toEqual(expect.arrayContaining(["GET /api", "POST /api?request", "GET /api?url", "GET /api?xhr", "POST /api?beacon"]));
        await noEscape();
      });

      test("case 25 modules, static and dynamic, workers and event sources reach the site", async () => {
        expect(await page.evaluate('import("/later.js").then(({ word }) => word)')).toBe("later");
        const worked = 'new Promise((resolve) => { new Worker("/worker.js").onmessage = ({ data }) => resolve(data) })';
        expect(await page.evaluate(worked)).toBe("worked");
        const event =
          'new Promise((resolve) => { const e = new EventSource("/events"); e.onmessage = ({ data }) => { e.close(); resolve(data) } })';
        expect(await page.evaluate(event)).toBe("one");
        await noEscape();
      });

      test("case 35 a WebSocket reaches the site", async () => {
        const open = `new Promise((resolve, reject) => {
        const socket = new WebSocket(location.origin.replace("http", "ws") + "/ws");
        socket.onmessage = ({ data }) => resolve(data);
        socket.onerror = () => reject(new Error("refused"));
      })`;
        expect(await page.evaluate(open)).toBe("hello");
        expect(received()).toEqual(["GET /ws"]);
      });

      test("case 26 history keeps the place, over a reload", async () => {
        await page.evaluate('history.pushState({}, "", "/cart")');
        expect(page.url()).toBe(`${root()}/cart`);
        await page.reload();
        expect([page.url(), await page.textContent("h1")]).toEqual([`${root()}/cart`, "Cart"]);
        await noEscape();
      });

      test("case 26 location.assign arrives at the site", async () => {
        await Promise.all([page.waitForURL(`${root()}/cart`), page.evaluate('location.assign("/cart")')]);
        expect(await page.textContent("h1")).toBe("Cart");
        await noEscape();
      });

      test("case 22 links and forms of the page stay with the site", async () => {
        await page.click("#cart");
        expect([page.url(), await page.textContent("h1")]).toEqual([`${root()}/cart`, "Cart"]);
        await page.click("a");
        await page.click("button");
        expect([page.url(), await page.textContent("h1")]).toEqual([`${root()}/order`, "Ordered"]);
        expect(received().filter((line) => line.startsWith("POST"))).toEqual(["POST /order"]);
        await noEscape();
      });

      test("case 25 elements that scripts make stay with the site", async () => {
        await page.evaluate(`(() => {
        const script = document.createElement("script"); script.src = "/script.js"; document.body.append(script);
        const link = document.createElement("a"); link.setAttribute("href", "/cart"); link.id = "made"; link.textContent = "x"; document.body.append(link);
        const box = document.createElement("div"); box.innerHTML = '<a id=inner href="/cart">y</a>'; document.body.append(box);
      })()`);
        await page.waitForFunction("document.body.dataset.script === 'ran'");
        expect(await page.evaluate("[document.querySelector('#made').href, document.querySelector('#inner').href]")).toEqual([
          `${root()}/cart`,
          `${root()}/cart`,
        ]);
        await page.click("#inner");
        expect(page.url()).toBe(`${root()}/cart`);
        await noEscape();
      });

      test("case 25 a script finds its own address as its author wrote it, and the browser's as it is", async () => {
        const [written, own] = await page.evaluate<string[]>(`new Promise((resolve) => {
          const script = document.createElement("script"); script.src = "/script.js"; document.body.append(script);
          script.onload = () => resolve([script.getAttribute("src"), script.src]);
        })`);
        expect([written, own]).toEqual(["/script.js", `${root()}/script.js`]);
        await noEscape();
      });

      test("case 21 a cookie that a script sets is the site's alone, and the script reads it", async () => {
        await page.evaluate('document.cookie = "a=1; path=/"');
        expect(await page.evaluate("document.cookie")).toBe("a=1");
        const path = mode === "host" ? "/" : `${shop.prefix}/`;
        expect((await page.context().cookies()).map(({ name, path }) => [name, path])).toEqual([["a", path]]);
        await page.evaluate('fetch("/api")');
        expect(shop.frontend.received.at(-1)?.headers).toContainEqual(["cookie", "a=1"]);
      });

      test("case 34 a service worker's scope is the site's", async () => {
        const scope = await page.evaluate(
          'navigator.serviceWorker.register("/sw.js", { scope: "/" }).then((registration) => registration.scope)',
        );
        expect(scope).toBe(`${root()}/`);
      });

      test("case 38 a frame of the site's is of its origin", async () => {
        const said = page.evaluate(
          'new Promise((resolve) => { onmessage = ({ data }) => resolve(data); document.querySelector("iframe").src = "/frame" })',
        );
        expect(await said).toBe("hello");
      });

      test("case 41 a page's script can't use the gateway as its viewer", async () => {
        const base = `http://localhost:${shop.gateway.port}${shop.gateway.prefix}`;
        // a frame without an address has the page's origin, and no shim
        const unshimmed = 'document.body.appendChild(document.createElement("iframe")).contentWindow';
        const call = (path: string) =>
          page.evaluate(`${unshimmed}.fetch(${JSON.stringify(base + path)}).then(({ status }) => status, () => "refused")`);
        const refused = mode === "host" ? "refused" : 401;
        for (const path of ["/mcp", "/svc/shop/x", "/state"]) expect([path, await call(path)]).toEqual([path, refused]);
      });
    });

    test("case 24 a style sheet's root-relative image is brought back by its Referer, and told of", async () => {
      const page = await browser.newPage();
      await page.goto(`http://localhost:${shop.gateway.port}${shop.prefix}/styled`, { waitUntil: "networkidle" });
      expect(shop.frontend.received.map(({ target }) => target)).toContain("/img/bg.svg");
      expect((await shop.warnings()).join()).toContain("(last: GET /img/bg.svg of ");
      await page.close();
    });
  },
);
