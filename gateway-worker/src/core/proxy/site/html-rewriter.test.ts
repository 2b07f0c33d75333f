import { describe, expect, test } from "vitest";
import { HtmlRewriter, type PageFinding } from "./html-rewriter.ts";
import { latin1Bytes, latin1Text } from "./latin1.ts";
import type { SitePlace } from "./place.ts";
import { ALLOWED, type InlineScripts } from "./policy.ts";

const PLACE: SitePlace = {
  outerOrigin: "http://localhost:8787",
  prefix: "/website/shop",
  path: "/",
  origins: ["http://10.0.0.2:80", "http://shop-website-frontend"],
};
const P = PLACE.prefix;

type Rewritten = { readonly page: string; readonly findings: PageFinding[] };

function rewritten(chunks: readonly string[], policy: InlineScripts = { are: "forbidden" }): Rewritten {
  const findings: PageFinding[] = [];
  const rewriter = new HtmlRewriter(PLACE, { policy, found: (finding) => findings.push(finding) });
  const sent = [...chunks.map((chunk) => rewriter.write(latin1Bytes(chunk))), rewriter.end()];
  return { page: sent.map(latin1Text).join(""), findings };
}

const pageOf = (...chunks: string[]): string => rewritten(chunks).page;

describe("N5 case 22 attributes that hold URLs", () => {
  test.each([
    ['<a href="/x?a=1&amp;b#c">', `<a href="${P}/x?a=1&amp;b#c">`],
    ["<a href='/x'>", `<a href='${P}/x'>`],
    ["<A HREF=/x>", `<A HREF=${P}/x>`],
    ['<a href=" /x ">', `<a href=" ${P}/x ">`],
    ['<a href="&#x2F;x">', `<a href="${P}/x">`],
    ["<img src=/x.png alt=/not>", `<img src=${P}/x.png alt=/not>`],
    ['<form action="/go"><button formaction="/other">', `<form action="${P}/go"><button formaction="${P}/other">`],
    ['<video poster="/p"><object data="/d"><div data="/d">', `<video poster="${P}/p"><object data="${P}/d"><div data="/d">`],
    ['<a ping="/a /b https://o/c">', `<a ping="${P}/a ${P}/b https://o/c">`],
    ['<svg><use xlink:href="/s.svg#i"/><use href="#i"/></svg>', `<svg><use xlink:href="${P}/s.svg#i"/><use href="#i"/></svg>`],
    ['<svg><title/><a href="/x">', `<svg><title/><a href="${P}/x">`],
    ['<base href="/">', `<base href="${P}/">`],
    ['<a href="http://shop-website-frontend/x">', `<a href="http://localhost:8787${P}/x">`],
    ['<a href="http://localhost:8787/x">', `<a href="http://localhost:8787${P}/x">`],
    ['<a href="/../../mcp">', `<a href="${P}/mcp">`],
  ])("%s", (page, shown) => expect(pageOf(page)).toBe(shown));

  test.each([
    '<a href="data:text/html,/x">',
    '<a href="mailto:/x">',
    '<a href="#x">',
    '<a href="x/y">',
    '<a href="//evil.example/x">',
    '<a href="https://other.example/x">',
    `<a href="${P}/x">`,
    `<a href="http://localhost:8787/website/other/">`,
    '<a hrefs="/x" title="/x" data-src="/x">',
    '<script>const a = \'<a href="/x">\' + "/x";</script>',
    "<!-- <a href=/x> -->",
    '<textarea><a href="/x"></textarea>',
    "<a href",
    '<a href="/x',
    "a < b > c <3 </ >",
    "",
  ])("%s stays", (page) => expect(pageOf(page)).toBe(page));
});

test("N5 case 23 each candidate of a srcset, with its descriptors", () => {
  expect(pageOf('<img srcset="/a.png 1x, /b,c.png 2x,\n /d.png,https://o/e.png 300w">')).toBe(
    `<img srcset="${P}/a.png 1x, ${P}/b,c.png 2x,\n ${P}/d.png,https://o/e.png 300w">`,
  );
  expect(pageOf('<link imagesrcset="/a.png, data:image/png;base64,AA== 2x">')).toBe(
    `<link imagesrcset="${P}/a.png, data:image/png;base64,AA== 2x">`,
  );
});

test("N5 case 24 style elements and attributes", () => {
  expect(pageOf("<style>@import '/a.css'; b{c:url(/d) url(\"/e\") url( '/f' ) url(g) url(data:x)}</style>")).toBe(
    `<style>@import '${P}/a.css'; b{c:url(${P}/d) url("${P}/e") url( '${P}/f' ) url(g) url(data:x)}</style>`,
  );
  expect(pageOf('<p style="a:url(/b);c:url(&quot;/d&quot;)">')).toBe(`<p style="a:url(${P}/b);c:url(&quot;${P}/d&quot;)">`);
});

test("N5 case 15 a refresh by <meta>, in either order of its attributes", () => {
  expect(pageOf('<meta content="0; url=/x" http-equiv=Refresh><meta name=a content="0;url=/x">')).toBe(
    `<meta content="0; url=${P}/x" http-equiv=Refresh><meta name=a content="0;url=/x">`,
  );
});

test("N5 case 25 a page's import map gets the prefix, and what sends root-relative specifiers there", () => {
  const map = { imports: { a: "/a.js", "/b.js": "/c.js" }, scopes: { "/s/": { d: "/d.js" } } };
  const page = pageOf(`<script type="importmap">${JSON.stringify(map)}</script>`);
  expect(JSON.parse(page.replace(/<[^>]*>/g, ""))).toEqual({
    imports: { "/": `${P}/`, [`${P}/`]: `${P}/`, a: `${P}/a.js`, "/b.js": `${P}/c.js` },
    scopes: { [`${P}/s/`]: { d: `${P}/d.js` } },
  });
  expect(pageOf('<script type="importmap">{"imports"</script>')).toBe('<script type="importmap">{"imports"</script>');
});

describe("N5 case 27 what is no page is never changed", () => {
  test.each(['{"a": "<a href=\\"/x\\">"}', ' \n["<a href=/x>"]', '\u00ef\u00bb\u00bf{"a":"<a href=/x>"}'])("JSON: %s", (page) =>
    expect(pageOf(page)).toBe(page),
  );
  test("a fragment gets its URLs, and no script", () => {
    expect(rewritten(["<li><a href=/x>x</a><script>1</script>"], ALLOWED).page).toBe(`<li><a href=${P}/x>x</a><script>1</script>`);
  });
  test("a frameset keeps its place", () => {
    const { page } = rewritten(["<html><frameset><frame src=/a></frameset></html>"], ALLOWED);
    expect(page.replace(/<script.*<\/script>/s, "")).toBe(`<html><frameset><frame src=${P}/a></frameset></html>`);
  });
});

describe("N5 case 28 encodings", () => {
  test("bytes above 0x7F stay as they are, whatever they mean", () => {
    const page = `<p title="\u00e9\u0083\u005c">\u0082\u00a0</p><a href="/caf\u00c3\u00a9">`;
    expect(pageOf(page)).toBe(page.replace('"/caf', `"${P}/caf`));
  });
  test.each(["\u00ff\u00fe<\0a\0", "\u00fe\u00ff\0<", "<\0a\0 \0h\0"])("UTF-16 passes, and is told of: %j", (page) =>
    expect(rewritten([page])).toEqual({ page, findings: ["unreadable"] }),
  );
});

describe("N5 case 33 the shim and the page's policy", () => {
  const head = (page: string): string => /<script[^>]*>/.exec(page)?.[0] ?? "";
  test("goes before the first thing that runs, and once", () => {
    const { page, findings } = rewritten(["<!doctype html><title>t</title><script src=/a.js></script><body><script>b</script>"], ALLOWED);
    expect(page.startsWith("<!doctype html><title>t</title><script>(function(p)")).toBe(true);
    expect([page.split('"/website/shop")').length, page.split("importmap").length, findings]).toEqual([2, 2, []]);
  });
  test("carries the nonce", () => {
    const { page } = rewritten(["<html><body>"], { are: "allowed", nonce: "abc" });
    expect(head(page)).toBe('<script nonce="abc">');
  });
  test("carries the nonce of a <meta> policy", () => {
    const meta = `<meta http-equiv="Content-Security-Policy" content="script-src 'nonce-m1'">`;
    expect(head(rewritten([`<head>${meta}</head>`], ALLOWED).page)).toBe('<script nonce="m1">');
  });
  test.each(["script-src 'self'", "script-src 'sha256-AA=' 'unsafe-inline'", "default-src 'strict-dynamic'"])(
    "is left out where a <meta> policy forbids it: %s",
    (policy) => {
      const page = `<head><meta http-equiv=content-security-policy content="${policy}"></head><body><p>`;
      expect(rewritten([page], ALLOWED)).toEqual({ page, findings: ["policy"] });
    },
  );
});

test("N5 case 32 above 5,000 matches the rest passes, and that is told once", () => {
  const { page, findings } = rewritten(["<a href=/x>".repeat(5_010)]);
  expect([page.split(`href=${P}/x`).length - 1, page.split("href=/x").length - 1, findings]).toEqual([5_000, 10, ["long"]]);
});

test("N5 case 32 text isn't held back, and a tag without an end only so far", () => {
  const rewriter = new HtmlRewriter(PLACE, { policy: ALLOWED, found: () => undefined });
  expect(latin1Text(rewriter.write(latin1Bytes("<p>first")))).toBe("<p>first");
  expect(latin1Text(rewriter.write(latin1Bytes(" a< b <img src=/x alt='")))).toBe(" a< b ");
  const long = "y".repeat(70_000);
  expect(latin1Text(rewriter.write(latin1Bytes(long)))).toBe(`<img src=${P}/x alt='${long}`);
});
