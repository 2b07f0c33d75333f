import { afterAll, describe, expect, test } from "vitest";
import { raw } from "../../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RecordInput } from "../../../fixtures/gateway/hosts.ts";
import { card, recorder } from "../../../fixtures/gateway/recorder.ts";

afterAll(endHosts);

const WARNING = (path: string) =>
  `check-site found that shop works on a host of its own only, and it is offered under ${path}: open it on its own host`;

describe.each(HOSTS)("a site's verdict in its deployment's record, on the $host host", ({ start }) => {
  async function told(more: Partial<RecordInput>): Promise<{ warnings: unknown; content: unknown; urls: unknown }> {
    const backend = await recorder({ card: () => ({ status: 200, body: card("shop") }) });
    const shop = { name: "shop", kind: "website" as const, url: backend.url, frontend_url: "http://shop-website-frontend" };
    const gateway = await start({ record: { servers: [shop], ...more } });
    const state = JSON.parse((await raw(gateway, "/state")).text);
    const step = { method: "POST", body: JSON.stringify({ action: "call_tool", tool_name: "list_website_urls" }) };
    const { content } = JSON.parse((await raw(gateway, "/step", step)).text);
    await gateway.stop();
    await backend.close();
    return { warnings: state.servers[0].warnings, content, urls: JSON.parse(content[0].text) };
  }
  const prefixed = "http://127.0.0.1:9/website/shop/";

  test("N5 host-only, and offered under a prefix: /state and list_website_urls warn", async () => {
    const { warnings, content } = await told({ sites: { shop: { verdict: "host-only" } }, website_frontend_urls: { shop: prefixed } });
    expect({ warnings, content }).toEqual({
      warnings: [WARNING("/website/shop/")],
      content: [
        { type: "text", text: JSON.stringify([prefixed]) },
        { type: "text", text: `warning: ${WARNING("/website/shop/")}` },
      ],
    });
  });

  test("N5 host-only, and only the gateway's own route offers it: /state warns, and the list has another address", async () => {
    const { warnings, content } = await told({ sites: { shop: { verdict: "host-only" } } });
    expect({ warnings, content }).toEqual({
      warnings: [WARNING("/website/shop/")],
      content: [{ type: "text", text: '["http://shop-website-frontend"]' }],
    });
  });

  test.each<[string, Partial<RecordInput>]>([
    [
      "host-only, and offered on a host of its own",
      { sites: { shop: { verdict: "host-only" } }, browse_urls: { shop: "http://shop.gateway/" } },
    ],
    ["good under a prefix", { sites: { shop: { verdict: "prefix-with-shim" } }, website_frontend_urls: { shop: prefixed } }],
    ["never checked", { website_frontend_urls: { shop: prefixed } }],
  ])("N5 %s: nobody warns", async (_, more) => {
    const { warnings, content, urls } = await told(more);
    expect([warnings, content]).toEqual([undefined, [{ type: "text", text: JSON.stringify(urls) }]]);
  });
});
