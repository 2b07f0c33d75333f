import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchChromium, noChromium } from "../fixtures/chromium.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { endHosts, HOSTS, type RunningGateway } from "../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../fixtures/gateway/recorder.ts";

/** An app whose pages are made by its scripts, as it would be written for the root of a host. */
const APP = {
  "index.html": `<!doctype html><html><head><title>App</title><link rel="stylesheet" href="/app.css"></head>
    <body><nav><a href="/" data-link>home</a> <a href="/cart" data-link>cart</a></nav><main></main>
    <script type="module" src="/src/main.js"></script></body></html>`,
  "app.css": "main { color: rgb(1, 2, 3) }",
  "src/main.js": `import { pages } from "/src/pages.js";
    import logo from "/src/logo.svg";
    const show = async () => {
      const page = pages[location.pathname.replace(/^.*\\//, "/")] ?? pages["/"];
      const { text } = await page();
      document.querySelector("main").innerHTML = "<h1>" + text + "</h1><img src='" + logo + "'>";
    };
    document.addEventListener("click", (event) => {
      const link = event.target.closest("[data-link]");
      if (link === null) return;
      event.preventDefault();
      history.pushState({}, "", link.getAttribute("href"));
      show();
    });
    addEventListener("popstate", show);
    show();`,
  "src/pages.js": 'export const pages = { "/": () => import("/src/home.js"), "/cart": () => import("./cart.js") };',
  "src/home.js": 'export const text = "Home";',
  "src/cart.js": 'export const text = "Cart";',
  "src/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>',
};

/** A site whose pages are made on its server, behind a login. Its redirects are absolute, made from `X-Forwarded-Host`. */
function loginSite(): http.Server {
  return http.createServer(async (request, response) => {
    const { url = "/", method, headers } = request;
    let body = "";
    for await (const chunk of request) body += chunk;
    const isIn = /(^|; )__Host-sid=ada($|;)/.test(headers.cookie ?? "");
    const to = (path: string, fields: Record<string, string> = {}) =>
      response.writeHead(303, { location: `${headers["x-forwarded-proto"]}://${headers["x-forwarded-host"]}${path}`, ...fields }).end();
    const page = (text: string) =>
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": "default-src 'self'" })
        .end(`<!doctype html><title>Login</title>${text}`);
    if (url === "/login" && method === "POST")
      return body === "user=ada" ? to("/", { "set-cookie": "__Host-sid=ada; Path=/; Secure; HttpOnly; SameSite=Lax" }) : to("/login");
    if (url === "/login") return page('<form action="/login" method="post"><input name="user"><button>in</button></form>');
    if (!isIn) return to("/login");
    if (url === "/logout") return to("/login", { "set-cookie": "__Host-sid=; Path=/; Secure; Max-Age=0" });
    return page('<h1>Hello ada</h1><a href="/logout">out</a>');
  });
}

afterAll(endHosts);

describe.skipIf(noChromium !== "").each(HOSTS)(
  `N5 case 43 real sites in a browser, on the $host host${noChromium && ` (${noChromium})`}`,
  ({ start }) => {
    let gateway: RunningGateway;
    let backend: Recorder;
    let folder: ReturnType<typeof temporaryFolder>;
    let vite: ViteDevServer;
    let login: http.Server;
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
      folder = temporaryFolder(APP);
      const root = folder.path;
      vite = await createServer({
        root,
        configFile: false,
        cacheDir: join(root, ".vite"),
        logLevel: "error",
        optimizeDeps: { noDiscovery: true },
        server: { host: "127.0.0.1", port: 0, hmr: true },
      });
      await vite.listen();
      login = loginSite();
      await new Promise<void>((resolve) => login.listen(0, "127.0.0.1", resolve));
      backend = await recorder({ card: () => ({ status: 200, body: card("site") }) });
      const portOf = (address: AddressInfo | string | null | undefined): number => {
        if (typeof address !== "object" || address === null) throw new Error("no port");
        return address.port;
      };
      const site = (name: string, port: number) => ({
        name,
        kind: "website" as const,
        url: backend.url,
        frontend_url: `http://127.0.0.1:${port}`,
      });
      const sites = [site("app", portOf(vite.httpServer?.address())), site("login", portOf(login.address()))];
      gateway = await start({
        record: (deployment) => ({ servers: sites.map((each) => ({ ...each, label: `${each.name}--${deployment}` })) }),
      });
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser.close();
      await gateway.stop();
      await Promise.all([vite.close(), backend.close(), new Promise((resolve) => login.close(resolve))]);
      folder[Symbol.dispose]();
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
