import { describe, expect, test } from "vitest";
import { brokenFindings, compare, elsewhere, hostNotes, needsSecondLook, policyFindings } from "./compare.ts";
import { type Found, merged } from "./findings.ts";
import type { PageRecord, Sent, Socket, WalkRecord } from "./walk-record.ts";

const HOST = "http://shop--d.localhost:9000/";
const PREFIX = "http://localhost:9000/website/shop/";

const page = (more: Partial<PageRecord> = {}): PageRecord => ({
  key: "/",
  path: "/",
  status: 200,
  failure: null,
  title: "Shop",
  text: ["Shop"],
  links: [],
  sent: [],
  troubles: [],
  sockets: [],
  workers: [],
  scriptCookies: [],
  hasShim: true,
  hasPolicy: false,
  ...more,
});
const sent = (url: string, more: Partial<Sent> = {}): Sent => ({
  method: "GET",
  url,
  type: "image",
  isPage: false,
  by: "markup",
  at: null,
  status: 200,
  failure: null,
  mime: "image/png",
  redirectTo: null,
  hasPolicy: false,
  ...more,
});
const walk = (base: string, pages: PageRecord[], cookies: WalkRecord["cookies"] = []): WalkRecord => ({
  mode: base === HOST ? "host" : "prefix",
  base,
  pages,
  cookies,
  cutShort: null,
  seconds: 1,
});
const kinds = (found: readonly Found[]): string[] => found.map(({ kind, text }) => `${kind}: ${text}`);

describe("N5 what a page shows", () => {
  const shows = (hosts: string[][], prefix: string[]) =>
    kinds(
      compare(
        hosts.map((text) => walk(HOST, [page({ text })])),
        walk(PREFIX, [page({ text: prefix })]),
      ),
    );

  test("that differs under the prefix is a finding, to be looked at twice", () => {
    const found = compare([walk(HOST, [page({ text: ["Your cart (2)"] })])], walk(PREFIX, [page({ text: ["Not found"] })]));
    expect(kinds(found)).toEqual(['text-differs: page /: "Your cart (2)" in host mode, "Not found" under the prefix']);
    expect(needsSecondLook(found)).toBe(true);
  });

  test("that differs in host mode too changes by itself", () => {
    expect(
      shows(
        [
          ["a", "12:01"],
          ["a", "12:03"],
        ],
        ["a", "12:02"],
      ),
    ).toEqual([]);
  });

  test("more lines than change by themselves are a finding", () => {
    const twice = [
      ["a", "12:01"],
      ["a", "12:03"],
    ];
    expect(shows(twice, ["a", "12:02", "Error"])).toEqual(['text-differs: page /: nothing in host mode, "12:02" under the prefix']);
  });
});

describe("N5 what a page asks for", () => {
  const asks = (host: Sent[], prefix: Sent[]) =>
    kinds(compare([walk(HOST, [page({ sent: host })])], walk(PREFIX, [page({ sent: prefix })])));

  test.each<[string, Sent[], Sent[]]>([
    ["is answered alike", [sent(`${HOST}a.png`)], [sent(`${PREFIX}a.png`)]],
    ["is missing in both modes", [sent(`${HOST}a.png`, { status: 404 })], [sent(`${PREFIX}a.png`, { status: 404 })]],
    ["is given up by the page itself", [sent(`${HOST}a`)], [sent(`${PREFIX}a`, { status: null, failure: "net::ERR_ABORTED" })]],
    ["is the browser's own icon", [], [sent("http://localhost:9000/favicon.ico", { by: "browser", status: 404 })]],
    ["is another host's", [], [sent("http://cdn.example/a.png", { status: null, failure: "net::ERR_NAME_NOT_RESOLVED" })]],
    ["is another site's", [], [sent("http://localhost:9000/website/blog/a.png", { status: 404 })]],
  ])("%s: no finding", (_, host, prefix) => {
    expect(asks(host, prefix)).toEqual([]);
  });

  test("an event stream that the page gave up at its answer has failed with that answer", () => {
    const refused = (url: string): Sent => sent(url, { type: "eventsource", by: "script", status: 404, failure: "net::ERR_ABORTED" });
    const root = "http://localhost:9000/events";
    expect(asks([], [refused(root)])).toEqual(["event-source: event stream /events left the prefix: answered 404 at the gateway's root"]);
    const there = sent(`${HOST}events`, { type: "eventsource", mime: "text/event-stream" });
    expect(asks([there], [refused(`${PREFIX}events`)])).toEqual([
      "event-source: event stream /events: answered 404, and only under the prefix",
    ]);
  });

  test("a redirect out of the prefix is L1's, and says what became of it", () => {
    const out = sent("http://localhost:9000/login", { type: "document", by: "redirect", status: 404 });
    const [found] = compare([], walk(PREFIX, [page({ sent: [out] })]));
    expect([found?.text, found?.layer]).toEqual(["frame /login left the prefix: answered 404 at the gateway's root", "L1"]);
  });

  test("the whole prefix of an edge gateway twice, and the site's own part of it twice, are doubled", () => {
    const base = "http://localhost:8787/d/demo/website/shop/";
    const asked = ["d/demo/website/shop/a", "website/shop/a", "website/shopping/a"].map((path) => sent(base + path));
    expect(kinds(compare([], walk(base, [page({ sent: asked })])))).toEqual([
      "doubled-prefix: /d/demo/website/shop/d/demo/website/shop/a has the prefix twice",
      "doubled-prefix: /d/demo/website/shop/website/shop/a has the prefix twice",
    ]);
  });
});

describe("N5 what scripts ask for in host mode, and not under the prefix", () => {
  const opened = (url: string, more: Partial<Socket> = {}): Socket => ({
    url,
    by: "script",
    at: null,
    status: 101,
    failure: null,
    ...more,
  });
  const asked = (url: string): Sent => sent(url, { type: "fetch", by: "script" });
  const inHost = page({ sockets: [opened("ws://shop--d.localhost:9000/hot?id=1")], sent: [asked(`${HOST}api?at=1`)] });
  const other = { key: "/b", path: "/b" };
  const missing = (hosts: PageRecord[], prefix: PageRecord[]) =>
    kinds(
      compare(
        hosts.map((each) => walk(HOST, [each])),
        walk(PREFIX, prefix),
      ),
    );

  test("is a finding on a page that looks the same, to be looked at twice", () => {
    const found = compare([walk(HOST, [inHost, { ...inHost, ...other }])], walk(PREFIX, [page(), page(other)]));
    expect(kinds(found)).toEqual([
      "missing: socket /hot: opened in host mode, and never under the prefix",
      "missing: fetch /api: asked for in host mode, and never under the prefix",
    ]);
    expect([found[0]?.page, found[0]?.layer, needsSecondLook(found)]).toEqual(["/", null, true]);
  });

  test("is none where one walk in host mode does without it", () => {
    expect(missing([inHost, page()], [page()])).toEqual([]);
  });

  test("is none where any page under the prefix asks for it, with whatever query", () => {
    const sockets = [opened("ws://localhost:9000/website/shop/hot?id=2")];
    expect(missing([inHost], [page(), page({ ...other, sockets, sent: [asked(`${PREFIX}api?at=2`)] })])).toEqual([]);
  });

  test("is no news of a page that shows something else, or of one that wasn't opened", () => {
    expect(missing([inHost], [page({ text: ["Not found"] })])).toEqual([
      'text-differs: page /: nothing in host mode, "Not found" under the prefix',
    ]);
    expect(missing([inHost], [])).toEqual([]);
  });

  test("is what was answered there: not what markup asks for, nor what fails in host mode too", () => {
    const refused = opened("ws://shop--d.localhost:9000/hot", { status: 404 });
    const failing = sent(`${HOST}api`, { type: "fetch", by: "script", status: 404 });
    expect(missing([page({ sockets: [refused], sent: [failing, sent(`${HOST}a.png`)] })], [page()])).toEqual([]);
  });
});

test("N5 a cookie that the gateway has renamed is the site's own, and the gateway's is none", () => {
  const host = walk(HOST, [page()], [{ name: "__Host-sid", path: "/", host: "shop--d.localhost" }]);
  const own = { name: "agentenv-__Host-sid", path: "/website/shop/", host: "localhost" };
  const gateways = { name: "agentenv_pages.d", path: "/website/", host: "localhost" };
  expect(compare([host], walk(PREFIX, [page()], [own, gateways]))).toEqual([]);
  expect(kinds(compare([host], walk(PREFIX, [page()], [gateways])))).toEqual([
    "cookie-lost: cookie __Host-sid is stored in host mode, and not under the prefix",
  ]);
});

test("N5 a link that leaves the prefix is an escape", () => {
  const links = ["http://localhost:9000/cart", `${PREFIX}cart`, "http://example.com/cart"];
  expect(kinds(compare([], walk(PREFIX, [page({ links })])))).toEqual(["escape: link /cart leads out of the prefix"]);
});

test("N5 a policy that forbids the shim is a finding where something needed it, else a note", () => {
  const strict = walk(PREFIX, [page({ hasShim: false, hasPolicy: true })]);
  expect(policyFindings(strict, [])).toEqual({
    findings: [],
    notes: ["the Content-Security-Policy of / forbids the shim, and nothing there needed it"],
  });
  const left: Found = { kind: "escape", mode: "prefix", page: "/", text: "fetch /a", at: null, layer: "L4" };
  const { findings, notes } = policyFindings(strict, [left]);
  expect([kinds(findings), notes]).toEqual([
    ["policy: its Content-Security-Policy forbids the shim: what scripts make is not put under the prefix"],
    [],
  ]);
});

test("N5 a site is broken whose start page, or one of that page's own scripts, isn't there on its own host", () => {
  const script = sent(`${HOST}app.js`, { type: "script", status: 404 });
  expect(kinds(brokenFindings(walk(HOST, [page({ status: 500 })])))).toEqual(["failed-load: page /: answered 500"]);
  expect(kinds(brokenFindings(walk(HOST, [page({ sent: [script] })])))).toEqual(["failed-load: script /app.js: answered 404"]);
  const elsewhereMissing = walk(HOST, [page({ sent: [sent(`${HOST}a.png`, { status: 404 })] }), page({ key: "/b", status: 404 })]);
  expect(brokenFindings(elsewhereMissing)).toEqual([]);
  expect(hostNotes(elsewhereMissing)).toEqual(["in host mode too: image /a.png: answered 404"]);
});

test("N5 hosts that a page asks beside the site's own are listed", () => {
  const sockets = ["ws://127.0.0.1:3000/ws", "ws://shop--d.localhost:9000/ws"].map(
    (url): Socket => ({ url, by: "script", at: null, status: 101, failure: null }),
  );
  expect(elsewhere(walk(HOST, [page({ sent: [sent("https://cdn.example/a.js"), sent(`${HOST}a`), sent("data:,a")], sockets })]))).toEqual([
    "https://cdn.example",
    "ws://127.0.0.1:3000",
  ]);
});

test("N5 one finding on several pages is told once, with their number and what the author can do", () => {
  const on = (path: string): Found => ({ kind: "lost-navigation", mode: "prefix", page: path, text: "to /cart", at: null, layer: "L4" });
  expect(merged([on("/a"), on("/b"), on("/a")])).toEqual([
    { ...on("/a"), pages: 2, advice: 'give location a relative URL ("cart", not "/cart"); or offer the site on a host of its own' },
  ]);
});
