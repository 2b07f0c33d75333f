import { afterAll, describe, expect, test } from "vitest";
import { rawTo } from "../../../fixtures/gateway/client.ts";
import { endHosts, HOSTS } from "../../../fixtures/gateway/hosts.ts";
import { shopSuite } from "../../../fixtures/gateway/shop.ts";

afterAll(endHosts);

describe.each(HOSTS)("paths of a site on the $host host", ({ start }) => {
  const shop = shopSuite(start);
  const targets = () => shop.frontend.received.map(({ target }) => target);

  test("N5 case 1 the prefix without its slash is a redirect, its query kept", async () => {
    const answer = await shop.prefixed("?x=1");
    expect([answer.status, answer.header("location"), targets()]).toEqual([308, `${shop.prefix}/?x=1`, []]);
  });

  test("N5 case 2 another name is not the site", async () => {
    const { gateway } = shop;
    for (const path of ["/website/shopping", "/website/Shop/", "/website/nope/"]) {
      const json = await rawTo(gateway.port, gateway.prefix + path);
      const html = await rawTo(gateway.port, gateway.prefix + path, { headers: { accept: "text/html,*/*;q=0.8" } });
      expect([path, json.status, json.header("content-type"), html.status, html.header("content-type")]).toEqual([
        path,
        404,
        "application/json",
        404,
        "text/html; charset=utf-8",
      ]);
    }
    expect(targets()).toEqual([]);
  });

  test("N5 case 3 what is escaped arrives as it was sent", async () => {
    const paths = ["/a%2Fb%3Fc%23d", "/%252F", "/a+b%20c", "/x?a=1&a=2&a=", "/x?", "/caf%C3%A9?q=%C3%A9", "/a;b=1//c"];
    for (const path of paths) await shop.prefixed(path);
    for (const path of paths) await shop.hosted(path);
    expect(targets()).toEqual([...paths, ...paths]);
  });

  test("N5 case 4 no path leads to another host", async () => {
    for (const ask of [shop.prefixed, shop.hosted]) {
      await ask("/a/../b");
      await ask("/a/%2e%2e/c");
      await ask("/d\\e");
      await ask("//evil.example/x");
      expect((await ask("/a/..%2fmcp")).status).toBe(400);
    }
    const expected = ["/b", "/c", "/d/e", "//evil.example/x"];
    expect(targets()).toEqual([...expected, ...expected]);
  });

  test("N5 case 5 control bytes are 400, and nothing is sent", async () => {
    for (const ask of [shop.prefixed, shop.hosted])
      for (const path of ["/a%00b", "/a%0Db", "/a%0Ab", "/a%01b"]) expect([path, (await ask(path)).status]).toEqual([path, 400]);
    expect(targets()).toEqual([]);
  });

  test("N5 case 6 a URL of 8 KiB passes, one of 64 KiB is 414", async () => {
    const long = (bytes: number) => `/${"x".repeat(bytes - 1)}`;
    expect((await shop.hosted(long(8_192))).status).toBe(200);
    expect((await shop.prefixed(long(8_192 - shop.prefix.length))).status).toBe(200);
    expect((await shop.hosted(long(65_536))).status).toBe(414);
    expect((await shop.prefixed(long(65_536))).status).toBe(414);
    expect(targets()).toHaveLength(2);
  });

  test("N5 case 39 files at a site's root are reached, and never from the gateway's", async () => {
    for (const path of ["/robots.txt", "/sitemap.xml", "/manifest.webmanifest", "/favicon.ico", "/.well-known/security.txt"]) {
      expect([path, (await shop.prefixed(path)).text, (await shop.hosted(path)).text]).toEqual([path, path, path]);
      expect([path, (await rawTo(shop.gateway.port, shop.gateway.prefix + path)).status]).toEqual([path, 404]);
    }
    expect((await shop.prefixed("/.well-known/agent-env.json")).status).toBe(404);
    expect((await shop.hosted("/.well-known/agent-env.json")).status).toBe(404);
  });

  test("N5 case 42 a foreign Host is 403, a host of ours that is no site's 404", async () => {
    const { port, deployment } = shop.gateway;
    const status = async (host: string) => (await rawTo(port, "/", { headers: { host } })).status;
    expect(await status(`shop--${deployment}.localhost.evil.example`)).toBe(403);
    expect(await status("evil.example")).toBe(403);
    expect(await status("10.1.2.3")).toBe(403);
    expect(await status(`nope--${deployment}.localhost:${port}`)).toBe(404);
    const state = await rawTo(port, "/state", { headers: { host: `nope--${deployment}.localhost:${port}` } });
    expect(state.status).toBe(404);
    expect(await status(shop.host.toUpperCase().replace("LOCALHOST", "localhost"))).toBe(200);
    expect(targets()).toEqual(["/"]);
  });
});
