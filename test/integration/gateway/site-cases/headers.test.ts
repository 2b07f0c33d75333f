import net from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS } from "../../../fixtures/gateway/hosts.ts";
import { fieldsNamed, shopSuite, startShop } from "../../../fixtures/gateway/shop.ts";

afterAll(endHosts);

describe.each(HOSTS)("heads of a site on the $host host", ({ host, start }) => {
  const shop = shopSuite(start);
  const answers = (status: number, headers: string[], body = "") =>
    shop.answers((request, response) => void response.writeHead(status, headers).end(request.method === "HEAD" ? "" : body));
  const received = () => shop.frontend.received.at(-1)?.headers ?? [];

  test("N5 case 7 HEAD has no body, and nothing that GET would not have", async () => {
    answers(200, ["content-type", "text/html", "content-length", "19", "etag", '"a"'], "<a href='/x'>x</a>\n");
    const head = await shop.prefixed("/", { method: "HEAD" });
    const get = await shop.prefixed("/");
    expect([head.body.length, head.header("content-length"), head.header("etag")]).toEqual([0, undefined, get.header("etag")]);
    const hosted = await shop.hosted("/", { method: "HEAD" });
    expect([hosted.body.length, hosted.header("content-length"), hosted.header("etag")]).toEqual([0, "19", '"a"']);
  });

  test("N5 case 8 every method reaches the site, and its CORS header stays alone", async () => {
    answers(200, ["access-control-allow-origin", "https://a.example"]);
    for (const method of ["OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND"])
      for (const ask of [shop.prefixed, shop.hosted])
        expect([
          method,
          fieldsNamed(await ask("/x", { method, headers: { origin: "https://a.example" } }), "access-control-allow-origin"),
        ]).toEqual([method, ["https://a.example"]]);
    expect(shop.frontend.received.map(({ method }) => method)).toEqual(
      ["OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND"].flatMap((method) => [method, method]),
    );
  });

  test("N5 case 11 what Connection names ends here", async () => {
    answers(200, ["connection", "X-Inner", "x-inner", "1", "x-outer", "2"]);
    const answer = await shop.prefixed("/", { headers: { connection: "X-Foo", "x-foo": "1", "x-bar": "2" } });
    expect([answer.header("x-inner"), answer.header("x-outer")]).toEqual([undefined, "2"]);
    expect(received().filter(([name]) => /^x-(foo|bar)$/.test(name))).toEqual([["x-bar", "2"]]);
  });

  test("N5 case 12 the site sees its own address as Host, and the outer one in X-Forwarded-Host", async () => {
    answers(200, []);
    const forged = { "x-forwarded-host": "evil.example", "x-forwarded-for": "1.2.3.4", forwarded: "host=evil.example" };
    await shop.hosted("/", { headers: forged });
    const own = Object.fromEntries(received());
    expect([own["host"], own["x-forwarded-host"], own["x-forwarded-prefix"], own["forwarded"]]).toEqual([
      shop.frontend.url.slice("http://".length),
      shop.host,
      undefined,
      undefined,
    ]);
    await shop.prefixed("/", { headers: forged });
    expect(Object.fromEntries(received())["x-forwarded-prefix"]).toBe(shop.prefix);
    expect(received().filter(([, value]) => /evil|1\.2\.3\.4/.test(value))).toEqual([]);
  });

  test("N5 case 13 repeated fields and bytes above 0x7F", async () => {
    answers(200, ["set-cookie", "a=1", "set-cookie", "b=2", "link", "</a>; rel=x", "link", "</b>; rel=y", "x-bytes", "caf\u00e9"]);
    const answer = await shop.hosted("/");
    const links = ["</a>; rel=x", "</b>; rel=y"];
    expect([fieldsNamed(answer, "set-cookie"), fieldsNamed(answer, "link"), answer.header("x-bytes")]).toEqual([
      ["a=1", "b=2"],
      host === "worker" ? [links.join(", ")] : links,
      "caf\u00e9",
    ]);
  });

  test("N5 case 14 Location is put under the prefix, or onto the site's host; other places stay", async () => {
    const { prefix } = shop;
    const origin = `http://127.0.0.1:${shop.gateway.port}`;
    const inner = shop.frontend.url.slice("http:".length);
    const cases: [string, string, string][] = [
      ["/x", `${prefix}/x`, "/x"],
      ["x", "x", "x"],
      ["?q", "?q", "?q"],
      [`${inner}/x`, `${origin}${prefix}/x`, `http://${shop.host}/x`],
      [`http:${inner}/x?y#z`, `${origin}${prefix}/x?y#z`, `http://${shop.host}/x?y#z`],
      ["http://127.0.0.1/x", `${origin}${prefix}/x`, `http://${shop.host}/x`],
      ["http://shop-website-frontend/caf\u00c3\u00a9", `${origin}${prefix}/caf\u00c3\u00a9`, `http://${shop.host}/caf\u00c3\u00a9`],
      [`${prefix}/x`, `${prefix}/x`, `${prefix}/x`],
      [`${origin}/x`, `${origin}${prefix}/x`, `${origin}/x`],
      [
        `${origin}${prefix.replace(/shop$/, "other")}/x`,
        `${origin}${prefix.replace(/shop$/, "other")}/x`,
        `${origin}${prefix.replace(/shop$/, "other")}/x`,
      ],
      ["https://other.example/x", "https://other.example/x", "https://other.example/x"],
    ];
    for (const [location, prefixed, hosted] of cases) {
      answers(location === "/x" ? 201 : 302, ["location", location]);
      expect([location, (await shop.prefixed("/go")).header("location")]).toEqual([location, prefixed]);
      expect([location, (await shop.hosted("/go")).header("location")]).toEqual([location, hosted]);
    }
    expect(shop.frontend.received).toHaveLength(2 * cases.length);
  });

  test("N5 case 15 16 Refresh, Link, SourceMap and Content-Location are put under the prefix alone", async () => {
    const fields = ["refresh", "0;url=/x", "link", "</a.css>; rel=preload", "sourcemap", "/m", "content-location", "/c"];
    answers(200, fields);
    const names = ["refresh", "link", "sourcemap", "content-location"];
    const prefixed = await shop.prefixed("/");
    expect(names.map((name) => prefixed.header(name))).toEqual([
      `0;url=${shop.prefix}/x`,
      `<${shop.prefix}/a.css>; rel=preload`,
      `${shop.prefix}/m`,
      `${shop.prefix}/c`,
    ]);
    const hosted = await shop.hosted("/");
    expect(names.map((name) => hosted.header(name))).toEqual(["0;url=/x", "</a.css>; rel=preload", "/m", "/c"]);
  });

  test("N5 case 16 early hints end here", async () => {
    shop.answers((_request, response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload" });
      response.writeHead(200, { "content-type": "text/plain" }).end("late");
    });
    const socket = net.connect(shop.gateway.port, "127.0.0.1");
    socket.write(`GET ${shop.prefix}/ HTTP/1.1\r\nhost: 127.0.0.1:${shop.gateway.port}\r\nconnection: close\r\n\r\n`);
    let text = "";
    for await (const chunk of socket) text += chunk;
    expect([text.slice(0, 13), text.endsWith("late") || text.includes("\r\nlate\r\n")]).toEqual(["HTTP/1.1 200 ", true]);
  });

  test("N5 case 31 ranges of what is no page pass in both directions", async () => {
    answers(206, ["content-type", "video/mp4", "content-range", "bytes 2-4/10", "accept-ranges", "bytes"], "234");
    for (const ask of [shop.prefixed, shop.hosted]) {
      const answer = await ask("/v.mp4", { headers: { range: "bytes=2-4" } });
      expect([answer.status, answer.header("content-range"), answer.header("accept-ranges"), answer.text]).toEqual([
        206,
        "bytes 2-4/10",
        "bytes",
        "234",
      ]);
      expect(received().find(([name]) => name === "range")).toEqual(["range", "bytes=2-4"]);
    }
    answers(416, ["content-range", "bytes */10"]);
    expect((await shop.prefixed("/v.mp4", { headers: { range: "bytes=20-" } })).status).toBe(416);
  });

  test("N5 case 31 a page has no ranges under the prefix", async () => {
    answers(200, ["content-type", "text/html", "accept-ranges", "bytes"], "<p>");
    const asked = { headers: { range: "bytes=0-1", accept: "text/html" } };
    expect((await shop.prefixed("/", asked)).header("accept-ranges")).toBeUndefined();
    expect(received().find(([name]) => name === "range")).toBeUndefined();
    expect((await shop.hosted("/", asked)).header("accept-ranges")).toBe("bytes");
    expect(received().find(([name]) => name === "range")).toEqual(["range", "bytes=0-1"]);
  });

  test("N5 case 40 a site clears and pins nothing but its own", async () => {
    answers(200, ["clear-site-data", '"cookies", "storage"', "strict-transport-security", "max-age=1", "alt-svc", "h3=:1"]);
    const prefixed = await shop.prefixed("/");
    expect(["clear-site-data", "strict-transport-security", "alt-svc"].map((name) => prefixed.header(name))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const hosted = await shop.hosted("/");
    expect(["clear-site-data", "strict-transport-security"].map((name) => hosted.header(name))).toEqual(['"storage"', "max-age=1"]);
    answers(200, ["clear-site-data", '"*"']);
    expect((await shop.hosted("/")).header("clear-site-data")).toBe('"cache", "storage", "executionContexts", "clientHints"');
    answers(200, ["clear-site-data", '"cookies"']);
    expect((await shop.hosted("/")).header("clear-site-data")).toBeUndefined();
  });
});

describe.each(HOSTS)("a front end that owns the prefix, on the $host host", ({ start }) => {
  test("N5 sees it, and its pages are its own", async () => {
    const shop = await startShop(start, { prefix: "keep" });
    const page = '<a href="/x">x</a>';
    shop.answers((_request, response) => void response.writeHead(200, { "content-type": "text/html", location: "/y" }).end(page));
    const prefixed = await shop.prefixed("/a?b");
    expect([prefixed.text, prefixed.header("location"), shop.frontend.received.at(-1)?.target]).toEqual([
      page,
      `${shop.prefix}/y`,
      "/website/shop/a?b",
    ]);
    const hosted = await shop.hosted("/a?b");
    expect([hosted.text, shop.frontend.received.at(-1)?.target]).toEqual([page, "/a?b"]);
    await shop.stop();
  });
});
