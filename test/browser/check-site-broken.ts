import type { SiteFinding } from "@agent-env/protocol";
import type { Answer } from "./check-site-support.ts";

/** A site that is good on a host of its own, and not under a prefix. */
export type BrokenSite = {
  readonly site: string;
  readonly paths: Readonly<Record<string, Answer>>;
  readonly acts?: string;
  /** What a person sees there: an expression that the page is asked, and what it gives in each mode. */
  readonly looks: { readonly at: string; readonly shows: string; readonly host: unknown; readonly prefix: unknown };
  /** The findings, without their advice. `<prefix>` stands for the prefix. */
  readonly finds: readonly Omit<SiteFinding, "advice" | "mode" | "pages">[];
  readonly notes?: readonly string[];
  /** What its finding is about is done by the gateway's host, so that both are tried. */
  readonly onBothHosts: boolean;
};

const HTML = "text/html";
const JS = "text/javascript";
/** Nothing brings back what leaves the prefix, and the shim can't be there. */
const STRICT = { "content-security-policy": "default-src 'self'", "referrer-policy": "no-referrer" };
const page = (title: string, body = "", script = '<script src="app.js" defer></script>') =>
  `<!doctype html><title>${title}</title><h1>${title}</h1><p id="out">...</p>${body}${script}`;
const policy = (path = "/") => ({
  kind: "policy" as const,
  page: path,
  text: "its Content-Security-Policy forbids the shim: what scripts make is not put under the prefix",
  at: null,
  layer: "L4" as const,
});
/** A page whose text is another under the prefix. */
const differs = (path: string, shown: { readonly host: string; readonly prefix: string }) => ({
  kind: "text-differs" as const,
  page: path,
  text: `page ${path}: "${shown.host}" in host mode, "${shown.prefix}" under the prefix`,
  at: null,
  layer: null,
});
const at = (file: string, line: number, column: number) => ({ file, line, column });
const OUT = 'document.getElementById("out").textContent';

/** One for each kind of finding (7-sites §6). */
export const BROKEN: readonly BrokenSite[] = [
  {
    site: "escape",
    paths: {
      "/": [HTML, page("Cart"), STRICT],
      "/app.js": [
        JS,
        '\n  fetch("/api/cart").then((answer) => answer.ok ? answer.text() : "no cart").then((text) => { out.textContent = text; });',
      ],
      "/api/cart": ["text/plain", "2 things", { "set-cookie": "cart=2" }],
    },
    looks: { at: "", shows: OUT, host: "2 things", prefix: "no cart" },
    finds: [
      {
        kind: "escape",
        page: "/",
        text: "fetch /api/cart left the prefix: answered 404 at the gateway's root",
        at: at("app.js", 2, 3),
        layer: "L4",
      },
      differs("/", { host: "2 things", prefix: "no cart" }),
      { kind: "cookie-lost", page: "/", text: "cookie cart is stored in host mode, and not under the prefix", at: null, layer: "L1" },
      policy(),
    ],
    onBothHosts: true,
  },
  {
    site: "asset",
    paths: {
      "*": [HTML, page("Styled", '<link rel="stylesheet" id="style">', '<script src="/app.js"></script>')],
      "/app.js": [
        JS,
        'const folder = location.pathname.split("/")[1];\nstyle.href = folder === "" ? "app.css" : "/" + folder + "/app.css";',
      ],
      "/app.css": ["text/css", "h1 { color: rgb(1, 2, 3) }"],
    },
    looks: { at: "", shows: "getComputedStyle(document.querySelector('h1')).color", host: "rgb(1, 2, 3)", prefix: "rgb(0, 0, 0)" },
    finds: [
      {
        kind: "wrong-asset",
        page: "/",
        text: "style sheet /website/app.css was answered with text/html",
        at: at("app.js", 2, 12),
        layer: "L4",
      },
    ],
    onBothHosts: false,
  },
  {
    site: "loop",
    paths: {
      "/": (_request, response) => response.writeHead(302, { location: "/website/loop/" }).end(),
      "/website/loop/": [HTML, page("Home", "", "")],
    },
    looks: { at: "", shows: "document.title", host: "Home", prefix: "net::ERR_TOO_MANY_REDIRECTS" },
    finds: [
      { kind: "redirect-loop", page: "/", text: "page / goes round in circles: <prefix>/ redirects to <prefix>/", at: null, layer: "L1" },
    ],
    onBothHosts: false,
  },
  {
    site: "doubled",
    paths: {
      "/": ({ headers }, response) =>
        response.writeHead(200, { "content-type": HTML }).end(page("Twice", `<i id="base">${headers["x-forwarded-prefix"] ?? ""}</i>`)),
      "/app.js": [
        JS,
        'fetch("." + base.textContent + "/login").then((answer) => answer.ok ? answer.text() : "none").then((text) => { base.remove(); out.textContent = text; });',
      ],
      "/login": ["text/plain", "the login"],
    },
    looks: { at: "", shows: OUT, host: "the login", prefix: "none" },
    finds: [
      { kind: "doubled-prefix", page: "/", text: "<prefix><prefix>/login has the prefix twice", at: at("app.js", 1, 1), layer: "L2" },
      differs("/", { host: "the login", prefix: "none" }),
    ],
    onBothHosts: false,
  },
  {
    site: "lost",
    paths: {
      "/": [HTML, page("Home", '<a href="go">go</a>', ""), STRICT],
      "/go": [HTML, page("Going"), STRICT],
      "/app.js": [JS, 'location.replace("/cart");'],
      "/cart": [HTML, page("Cart", "", ""), STRICT],
    },
    looks: { at: "go", shows: "document.querySelector('h1')?.textContent", host: "Cart", prefix: undefined },
    finds: [
      {
        kind: "lost-navigation",
        page: "/go",
        text: "a navigation to /cart left the prefix: answered 404 at the gateway's root",
        at: at("app.js", 1, 10),
        layer: "L4",
      },
    ],
    notes: ["the Content-Security-Policy of / forbids the shim, and nothing there needed it"],
    onBothHosts: true,
  },
  {
    site: "cookie",
    paths: {
      "/": [HTML, page("Cookie"), STRICT],
      "/app.js": [JS, 'document.cookie = "sid=1; path=/";'],
    },
    looks: { at: "", shows: "document.cookie", host: "sid=1", prefix: "sid=1" },
    finds: [
      {
        kind: "cookie-outside",
        page: "/",
        text: "cookie sid, path=/ set by script reaches beyond the prefix",
        at: at("app.js", 1, 17),
        layer: "L4",
      },
      policy(),
    ],
    onBothHosts: false,
  },
  {
    site: "worker",
    paths: {
      "/": [HTML, page("Offline"), STRICT],
      "/app.js": [
        JS,
        'navigator.serviceWorker.register("/sw.js").then(() => "offline too", () => "online only").then((text) => { out.textContent = text; });',
      ],
      "/sw.js": [JS, "onfetch = () => undefined;"],
    },
    looks: { at: "", shows: OUT, host: "offline too", prefix: "online only" },
    finds: [
      differs("/", { host: "offline too", prefix: "online only" }),
      {
        kind: "service-worker",
        page: "/",
        text: "service worker /sw.js left the prefix: TypeError: Failed to register a ServiceWorker for scope ('/') with script ('/sw.js'): A bad HTTP response code (404) was received when fetching the script.",
        at: at("app.js", 1, 25),
        layer: "L4",
      },
      policy(),
    ],
    onBothHosts: false,
  },
  {
    site: "socket",
    paths: {
      "/": [HTML, page("Live"), STRICT],
      "/app.js": [
        JS,
        'const socket = new WebSocket("ws://" + location.host + "/ws");\nsocket.onopen = () => { out.textContent = "open"; };\nsocket.onerror = () => { out.textContent = "refused"; };',
      ],
    },
    looks: { at: "", shows: OUT, host: "open", prefix: "refused" },
    finds: [
      differs("/", { host: "open", prefix: "refused" }),
      {
        kind: "socket",
        page: "/",
        text: "socket /ws left the prefix: Error during WebSocket handshake: Unexpected response code: 404 at the gateway's root",
        at: at("app.js", 1, 16),
        layer: "L4",
      },
      policy(),
    ],
    onBothHosts: true,
  },
  {
    site: "events",
    paths: {
      "/": [HTML, page("Events"), STRICT],
      "/app.js": [
        JS,
        'const events = new EventSource("/events");\nevents.onmessage = ({ data }) => { out.textContent = data; };\nevents.onerror = () => { out.textContent = "refused"; events.close(); };',
      ],
      "/events": (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: hello\n\n");
      },
    },
    looks: { at: "", shows: OUT, host: "hello", prefix: "refused" },
    finds: [
      {
        kind: "event-source",
        page: "/",
        text: "event stream /events left the prefix: answered 404 at the gateway's root",
        at: null,
        layer: "L4",
      },
      differs("/", { host: "hello", prefix: "refused" }),
      policy(),
    ],
    onBothHosts: true,
  },
  {
    site: "console",
    paths: {
      "/": [HTML, page("Routes")],
      "/app.js": [JS, 'const routes = { "": () => { out.textContent = "home"; } };\nroutes[location.pathname.split("/")[1]]();'],
    },
    looks: { at: "", shows: OUT, host: "home", prefix: "..." },
    finds: [
      differs("/", { host: "home", prefix: "..." }),
      {
        kind: "console-error",
        page: "/",
        text: "Uncaught TypeError: routes[location.pathname.split(...)[1]] is not a function (only under the prefix)",
        at: at("app.js", 2, 40),
        layer: null,
      },
    ],
    onBothHosts: false,
  },
  {
    site: "text",
    paths: {
      "/": [HTML, page("Shop", '<a href="cart">cart</a>')],
      "/cart": [HTML, page("Shop")],
      "/app.js": [JS, 'out.textContent = { "/": "Welcome", "/cart": "Your cart (2)" }[location.pathname] ?? "Not found";'],
    },
    looks: { at: "cart", shows: OUT, host: "Your cart (2)", prefix: "Not found" },
    finds: [differs("/", { host: "Welcome", prefix: "Not found" }), differs("/cart", { host: "Your cart (2)", prefix: "Not found" })],
    onBothHosts: false,
  },
  {
    site: "load",
    paths: {
      "/": [HTML, page("Secret", '<img id="secret" src="secret.svg" alt="">', "")],
      "/secret.svg": ({ headers }, response) =>
        headers["x-forwarded-prefix"] === undefined
          ? response
              .writeHead(200, { "content-type": "image/svg+xml" })
              .end('<svg xmlns="http://www.w3.org/2000/svg" width="3" height="3"/>')
          : response.writeHead(403).end(),
    },
    looks: { at: "", shows: "document.getElementById('secret').naturalWidth", host: 3, prefix: 0 },
    finds: [
      {
        kind: "failed-load",
        page: "/",
        text: "image /secret.svg: answered 403, and only under the prefix",
        at: at("/", 1, 1),
        layer: "L3",
      },
    ],
    onBothHosts: false,
  },
  {
    site: "missing",
    paths: {
      "/": [HTML, page("Shop")],
      "/app.js": [JS, 'if (location.pathname === "/") fetch("cart").then(() => { window.isAwake = true; });'],
      "/cart": ["text/plain", "2 things"],
    },
    looks: { at: "", shows: "window.isAwake === true", host: true, prefix: false },
    finds: [
      {
        kind: "missing",
        page: "/",
        text: "fetch /cart: asked for in host mode, and never under the prefix",
        at: at("app.js", 1, 32),
        layer: null,
      },
    ],
    onBothHosts: false,
  },
  {
    site: "act",
    paths: {
      "/": [HTML, page("Buy")],
      "/app.js": [
        JS,
        'if (location.pathname === "/") document.body.insertAdjacentHTML("beforeend", "<button onclick=\'this.remove()\'></button>");',
      ],
    },
    acts: "click button",
    looks: { at: "", shows: "document.querySelectorAll('button').length", host: 1, prefix: 0 },
    finds: [
      {
        kind: "act-failed",
        page: "/",
        text: "line 1 of the act script: nothing that fits was there within 10 s, and only under the prefix",
        at: null,
        layer: null,
      },
    ],
    onBothHosts: false,
  },
];
