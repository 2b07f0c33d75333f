import http from "node:http";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { endHosts, HOSTS } from "../../../fixtures/gateway/hosts.ts";
import { shopSuite } from "../../../fixtures/gateway/shop.ts";
import { until } from "../../../fixtures/until.ts";

const PAGE = '<p>caf\u00e9 <a href="/x">x</a></p>\n';
const HTML = "text/html; charset=iso-8859-1";
const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

afterAll(endHosts);

describe.each(HOSTS)("pages of a site on the $host host", ({ host, start }) => {
  const shop = shopSuite(start);
  const placed = () => PAGE.replace("/x", `${shop.prefix}/x`);
  const answers = (body: Buffer | string, headers: Record<string, string> = {}, status = 200) =>
    shop.answers((_request, response) => void response.writeHead(status, { "content-type": HTML, ...headers }).end(body));
  const asked = (name: string) => shop.frontend.received.at(-1)?.headers.find(([field]) => field === name)?.[1];
  const warned = (text: string) =>
    until(`a warning: ${text}`, 5_000, async () => (await shop.warnings()).some((line) => line.includes(text)));

  test("N5 case 22 a page's URLs get the prefix; on a host of its own not a byte is another", async () => {
    answers(bytes(PAGE), { "content-length": String(bytes(PAGE).length) });
    const prefixed = await shop.prefixed("/");
    expect([prefixed.body.toString("latin1"), prefixed.header("content-length"), prefixed.header("content-type")]).toEqual([
      placed(),
      undefined,
      HTML,
    ]);
    const hosted = await shop.hosted("/");
    expect([hosted.body.toString("latin1"), hosted.header("content-length")]).toEqual([PAGE, String(bytes(PAGE).length)]);
  });

  test("N5 a check may ask for a page as it is: only headers get the prefix, and the site isn't told", async () => {
    answers(bytes(PAGE), { location: "/x" });
    const asking = { "AgentEnv-Site-Layers": "L1" };
    const answer = await shop.prefixed("/", { headers: asking });
    expect([answer.body.toString("latin1"), answer.header("location")]).toEqual([PAGE, `${shop.prefix}/x`]);
    expect(asked("agentenv-site-layers")).toBe(undefined);
    expect((await shop.prefixed("/", { headers: { "AgentEnv-Site-Layers": "L3" } })).body.toString("latin1")).toBe(placed());
  });

  test.each([
    ["text/css", "a{b:url(/x)}"],
    ["application/json", '{"a":"<a href=/x>"}'],
    ["application/xhtml+xml", '<a href="/x"/>'],
    ["image/svg+xml", '<svg><a href="/x"/></svg>'],
    ["text/javascript", 'fetch("/x"); "<a href=/x>"'],
    ["text/htmlx", '<a href="/x">'],
  ])("N5 case 24 27 %s keeps its bytes", async (type, body) => {
    answers(body, { "content-type": type, etag: '"a"', "content-length": String(body.length) });
    const answer = await shop.prefixed("/");
    expect([answer.text, answer.header("etag"), answer.header("content-length")]).toEqual([body, '"a"', String(body.length)]);
  });

  test("N5 case 27 a page that is downloaded, or half of one, keeps its bytes", async () => {
    answers(bytes(PAGE), { "content-disposition": "attachment; filename=a.html" });
    expect((await shop.prefixed("/")).body.toString("latin1")).toBe(PAGE);
    answers(bytes(PAGE), { "content-range": "bytes 0-9/99" }, 206);
    expect((await shop.prefixed("/")).body.toString("latin1")).toBe(PAGE);
  });

  test("N5 case 28 UTF-16 passes with a warning, Shift_JIS byte for byte", async () => {
    const wide = Buffer.from('\ufeff<a href="/x">', "utf16le");
    answers(wide, { "content-type": "text/html; charset=UTF-16" });
    expect((await shop.prefixed("/")).body).toEqual(wide);
    await warned("pages are in an encoding that can't be rewritten, and passed as they are (last: GET /)");
    const japanese = Buffer.concat([bytes('<p title="'), Buffer.from([0x83, 0x5c, 0x95, 0x5c]), bytes('"><a href="/x">')]);
    answers(japanese, { "content-type": "text/html; charset=Shift_JIS" });
    expect((await shop.prefixed("/")).body.toString("latin1")).toBe(japanese.toString("latin1").replace("/x", `${shop.prefix}/x`));
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("N5 case 29 a page in %s is decoded once, and says so", async (coding, encode) => {
    const body = encode(bytes(PAGE));
    answers(body, { "content-encoding": coding, "content-length": String(body.length) });
    const prefixed = await shop.prefixed("/", { headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
    expect([prefixed.header("content-encoding"), prefixed.body.toString("latin1"), asked("accept-encoding")]).toEqual([
      undefined,
      placed(),
      "gzip, deflate, br",
    ]);
    const hosted = await shop.hosted("/", { headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
    expect([hosted.header("content-encoding"), hosted.body.equals(body), asked("accept-encoding")]).toEqual([
      coding,
      true,
      "gzip, deflate, br, zstd",
    ]);
  });

  test("N5 case 29 what is encoded twice, or in a coding that wasn't asked for, passes as it is", async () => {
    const twice = gzipSync(gzipSync(bytes(PAGE)));
    const accept = { headers: { "accept-encoding": "gzip" } };
    answers(twice, { "content-encoding": "gzip, gzip" });
    const answer = await shop.prefixed("/", accept);
    expect([answer.header("content-encoding"), answer.body.equals(twice)]).toEqual(["gzip, gzip", true]);
    const zstd = zstdCompressSync(bytes(PAGE));
    answers(zstd, { "content-encoding": "zstd" });
    const other = await shop.prefixed("/", accept);
    expect([other.header("content-encoding"), other.body.equals(zstd)]).toEqual(["zstd", true]);
  });

  test("N5 case 29 a page whose coding is broken is cut", async () => {
    answers(gzipSync(bytes(PAGE)).subarray(0, 20), { "content-encoding": "gzip" });
    await expect(shop.prefixed("/", { headers: { "accept-encoding": "gzip" } })).rejects.toThrow();
  });

  test("N5 case 30 a page's tag is weak, comes back as the site's, and its digests go", async () => {
    const tags = { etag: '"v1"', digest: "sha-256=x", "content-digest": "sha-256=:x:", "content-md5": "x" };
    shop.answers((request, response) => {
      if (request.headers["if-none-match"] === '"v1"') return void response.writeHead(304, { etag: '"v1"' }).end();
      return void response.writeHead(200, { "content-type": HTML, ...tags }).end(bytes(PAGE));
    });
    const first = await shop.prefixed("/");
    const etag = first.header("etag") ?? "";
    expect([etag, first.header("digest"), first.header("content-digest"), first.header("content-md5")]).toEqual([
      'W/"v1-rewritten"',
      undefined,
      undefined,
      undefined,
    ]);
    const again = await shop.prefixed("/", { headers: { "if-none-match": etag } });
    expect([again.status, again.header("etag"), again.body.length]).toEqual([304, etag, 0]);
    const hosted = await shop.hosted("/");
    expect([hosted.header("etag"), hosted.header("digest"), hosted.header("content-md5")]).toEqual(['"v1"', "sha-256=x", "x"]);
    expect((await shop.hosted("/", { headers: { "if-none-match": '"v1"' } })).status).toBe(304);
  });

  test("N5 case 32 the first bytes of a page come before its last ones are there", async () => {
    let finish = (): void => undefined;
    shop.answers((_request, response) => {
      response.writeHead(200, { "content-type": HTML }).write('<p>first <a href="/x">');
      finish = () => void response.end("last");
    });
    const { port } = shop.gateway;
    const response = await new Promise<http.IncomingMessage>((resolve) =>
      http.get({ host: "127.0.0.1", port, path: `${shop.prefix}/` }, resolve),
    );
    let text = "";
    response.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await until("the first bytes", 5_000, () => text === `<p>first <a href="${shop.prefix}/x">`);
    finish();
    await new Promise((resolve) => response.on("end", resolve));
    expect(text.endsWith("last")).toBe(true);
  });

  test("N5 case 32 a large page passes through whole", async () => {
    const row = `<tr><td>${"text ".repeat(200)}</td></tr>\n`;
    const rows = 50_000;
    const sizeBytes = Number(process.env["AGENT_ENV_TEST_LONG"] === "1" ? 50_000_000 : 8_000_000);
    const count = Math.min(rows, Math.ceil(sizeBytes / row.length));
    shop.answers(async (_request, response) => {
      response.writeHead(200, { "content-type": HTML });
      for (let at = 0; at < count; at++) if (!response.write(row)) await new Promise((resolve) => response.once("drain", resolve));
      response.end('<a href="/end">');
    });
    const { body } = await shop.prefixed("/");
    const end = `<a href="${shop.prefix}/end">`;
    expect([body.length, body.subarray(-end.length).toString()]).toEqual([count * row.length + end.length, end]);
  });

  test("N5 case 32 above 5,000 matches the rest of a page passes, and /state says so", async () => {
    answers('<a href="/x">'.repeat(5_001));
    const { text } = await shop.prefixed("/");
    expect([text.split(`"${shop.prefix}/x"`).length - 1, text.split('"/x"').length - 1]).toEqual([5_000, 1]);
    await warned("pages have more than can be rewritten; the rest of each passed as it is (last: GET /)");
  });

  test("N5 case 33 the shim carries the nonce of the page's policy, or is left out; integrity and scripts stay", async () => {
    const page = '<!doctype html><script integrity="sha256-AA=" src="a.js">/x</script>';
    const shim = /^<!doctype html><script( nonce="[^"]*")?>.*<\/script>(<script integrity="sha256-AA=" src="a\.js">\/x<\/script>)$/s;
    const policies: [Record<string, string>, string | undefined | null][] = [
      [{}, undefined],
      [{ "content-security-policy": "script-src 'nonce-r4nd0m'" }, ' nonce="r4nd0m"'],
      [{ "content-security-policy": "script-src 'unsafe-inline'" }, undefined],
      [{ "content-security-policy-report-only": "script-src 'none'" }, undefined],
      [{ "content-security-policy": "script-src 'strict-dynamic' 'sha256-AA='" }, null],
      [{ "content-security-policy": "default-src 'self'" }, null],
    ];
    for (const [headers, nonce] of policies) {
      answers(page, headers);
      const answer = await shop.prefixed("/");
      const found = shim.exec(answer.text);
      expect([headers, found === null ? null : found[1], Object.fromEntries(answer.headers)]).toEqual([
        headers,
        nonce,
        expect.objectContaining(headers),
      ]);
      if (nonce === null) expect(answer.text).toBe(page);
    }
    await warned("pages have a Content-Security-Policy that forbids the shim: URLs made by their scripts are not prefixed (last: GET /)");
    answers(page);
    expect((await shop.hosted("/")).text).toBe(page);
  });

  test("N5 case 24 a request that left the prefix is sent back there, and counted", async () => {
    const { port } = shop.gateway;
    const referer = `http://127.0.0.1:${port}${shop.prefix}/css/a.css`;
    const ask = (path: string, headers: Record<string, string>, method = "GET") =>
      new Promise<http.IncomingMessage>((resolve) => http.request({ host: "127.0.0.1", port, path, method, headers }, resolve).end());
    const shown = async (path: string, headers: Record<string, string>, method = "GET") => {
      const { statusCode, headers: fields } = await ask(path, headers, method);
      return [statusCode, fields.location];
    };
    for (const method of ["GET", "HEAD", "POST"])
      expect(await shown("/img/a%20b.png?v=1", { referer, "sec-fetch-site": "same-origin" }, method)).toEqual([
        307,
        `${shop.prefix}/img/a%20b.png?v=1`,
      ]);
    // what a check strays to is none of the site's defects
    expect(await shown("/img/b.png", { referer, "agentenv-site-layers": "L1" })).toEqual([307, `${shop.prefix}/img/b.png`]);
    expect(await shown("/img/a.png", { referer }, "PUT")).toEqual([404, undefined]);
    expect(await shown("/img/a.png", { referer: `http://evil.example${shop.prefix}/` })).toEqual([404, undefined]);
    expect(await shown("/img/a.png", { referer: referer.replace("/website/shop/", "/website/nope/") })).toEqual([404, undefined]);
    expect(await shown("/agentenv/x", { referer })).toEqual([404, undefined]);
    expect(await shown("/cdn-cgi/x", { referer })).toEqual([404, undefined]);
    expect(await shown("/a%00b", { referer })).toEqual([400, undefined]);
    for (const path of ["/mcp", "/state", "/svc/shop/x"])
      expect([path, (await ask(path, { referer, "sec-fetch-site": "same-origin" })).statusCode]).toEqual([
        path,
        host === "worker" ? 404 : 401,
      ]);
    expect(shop.frontend.received).toEqual([]);
    await warned(
      "3 requests left the prefix and were sent back by their Referer; write relative URLs, or use X-Forwarded-Prefix (last: POST /img/a%20b.png of ",
    );
  });
});
