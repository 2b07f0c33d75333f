import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";

/** Enough fields that a sort of them by name alone may turn round those of one name. */
const OTHERS = Array.from({ length: 16 }, (_, at) => [`x-${at}`, "1"]);
const COOKIES = Array.from({ length: 12 }, (_, at) => `c${at}=1`);

afterAll(endHosts);

describe.each(HOSTS)("many Set-Cookie fields among many others, on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let shop: Recorder;
  beforeAll(async () => {
    shop = await recorder({
      card: () => ({ status: 200, body: card("shop") }),
      answer: ({ url }, response) => {
        const fields = [
          ["content-type", url === "/page" ? "text/html" : "text/plain"],
          ...OTHERS,
          ...COOKIES.map((cookie) => ["set-cookie", cookie]),
        ];
        response.writeHead(200, fields.flat()).end("<p>text</p>");
      },
    });
    gateway = await start({ record: { servers: [{ name: "shop", kind: "website", url: shop.url, frontend_url: shop.url }] } });
  });
  afterAll(async () => {
    await gateway.stop();
    await shop.close();
  });

  test.each(["/website/shop/page", "/website/shop/text", "/svc/shop/page"])("come in their order (%s)", async (path) => {
    const { headers } = await raw(gateway, path);
    const cookies = headers.filter(([name]) => name === "set-cookie").map(([, value]) => value.split(";")[0]);
    expect(cookies).toEqual(COOKIES);
    expect(headers.filter(([name]) => name.startsWith("x-")).length).toBe(OTHERS.length);
  });
});
