import { createHash } from "node:crypto";
import { html } from "hono/html";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { connected, post, served } from "../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "./card.ts";
import { now } from "./clock.ts";
import { toolContext } from "./context.ts";
import { link } from "./links.ts";
import { jsonData } from "./parts.ts";
import { WebsiteEnvironment } from "./website-environment.ts";

/** A shop whose page, API, data and tools work on one list of orders. */
function shop(): WebsiteEnvironment {
  let orders: string[] = [];
  const site = new WebsiteEnvironment(environmentCard({ name: "shop" }));
  site.page("/", () => html`<ul>${orders.map((order) => html`<li>${order}</li>`)}</ul>`);
  site.app.get("/api/orders", (c) => c.json(orders));
  site.tool("place_order", {
    description: "Orders.",
    input: { product: z.string() },
    run: ({ product }) => void orders.push(`${product} for ${toolContext().caller.role} at ${now().toISOString()}`),
  });
  return site.data(
    jsonData(z.object({ orders: z.array(z.string()) }), {
      reset: () => {
        orders = [];
      },
      add: (seed) => orders.push(...seed.orders),
      get: () => ({ orders }),
    }),
  );
}

describe("W1.1 pages, API, data and tools are one state in one process", () => {
  test("W1.4 a tool call shows on the page, in the API and in data/get, with the caller's role and the universe's time", async () => {
    const url = await served(shop());
    const client = await connected(url, { "AgentEnv-Role": "alice", "X-Universe-Now": "2026-03-01T09:00:00Z" });
    await client.callTool({ name: "place_order", arguments: { product: "<tea>" } });
    const order = "<tea> for alice at 2026-03-01T09:00:00.000Z";
    expect(await (await fetch(url)).text()).toBe("<ul><li>&lt;tea&gt; for alice at 2026-03-01T09:00:00.000Z</li></ul>");
    expect(await (await fetch(`${url}/api/orders`)).json()).toEqual([order]);
    const data = await post(`${url}/agentenv`, { jsonrpc: "2.0", id: 1, method: "data/get" });
    expect(await data.json()).toMatchObject({ result: { parts: [{ data: { orders: [order] } }] } });
  });

  test("W1.2 the card declares the endpoint and lists the tools", async () => {
    const card = await (await fetch(`${await served(shop())}/.well-known/agent-env.json`)).json();
    expect(card).toMatchObject({
      name: "shop",
      additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
      capabilities: { tools: [{ name: "place_order" }] },
    });
  });

  test("W1.1 a resource alone is enough for MCP", async () => {
    const site = new WebsiteEnvironment(environmentCard({ name: "docs" })).resource("docs://all", {
      name: "all",
      read: () => ({ pages: 2 }),
    });
    const client = await connected(await served(site));
    expect((await client.listResources()).resources).toEqual([{ uri: "docs://all", name: "all" }]);
    expect((await client.readResource({ uri: "docs://all" })).contents).toEqual([
      { uri: "docs://all", mimeType: "application/json", text: '{"pages":2}' },
    ]);
    await expect(client.readResource({ uri: "docs://none" })).rejects.toMatchObject({ code: -32002 });
  });
});

describe("W1.3 without tools and resources", () => {
  const notes = () => new WebsiteEnvironment(environmentCard({ name: "notes" })).page("/", () => html`<p>notes</p>`);

  test("servesMcp() tells", () => {
    expect([notes().servesMcp(), shop().servesMcp()]).toEqual([false, true]);
  });

  test.each(["GET", "POST", "DELETE"])("%s /mcp is 404", async (method) => {
    const url = await served(notes());
    for (const path of ["/mcp", "/mcp/"]) expect((await fetch(url + path, { method })).status).toBe(404);
  });

  test("no interface is declared, and the rest is served", async () => {
    const url = await served(notes());
    expect(await (await fetch(`${url}/.well-known/agent-env.json`)).json()).toMatchObject({
      additionalInterfaces: [],
      capabilities: { tools: null },
    });
    expect(await (await fetch(`${url}/api/health`)).json()).toEqual({ ok: true });
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect(await (await fetch(url)).text()).toBe("<p>notes</p>");
  });
});

describe("W1.5 a session cookie per site", () => {
  /** A site that counts each visitor's visits. */
  const counting = (name: string) => {
    const site = new WebsiteEnvironment(environmentCard({ name }));
    const visits = site.sessions(() => ({ count: 0 }));
    return site.page("/", (c) => {
      const mine = visits.of(c);
      mine.count = visits.of(c).count + 1;
      return html`${mine.count}`;
    });
  };
  const visit = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { headers });
    return { text: await answer.text(), cookies: answer.headers.getSetCookie() };
  };
  const nameOf = (site: string) => `agentenv_session_${createHash("sha256").update(site).digest("hex").slice(0, 16)}`;

  test("its name comes from the site's, its attributes from the gateway's headers", async () => {
    const url = await served(counting("shop"));
    const bare = `${nameOf("shop")}=[0-9a-f]{32}; Path=/`;
    expect((await visit(url)).cookies).toEqual([expect.stringMatching(new RegExp(`^${bare}; HttpOnly; SameSite=Lax$`))]);
    const behind = await visit(url, { "X-Forwarded-Prefix": "/d/demo/website/shop", "X-Forwarded-Proto": "https" });
    expect(behind.cookies).toEqual([expect.stringMatching(new RegExp(`^${bare}d/demo/website/shop/; HttpOnly; Secure; SameSite=Lax$`))]);
  });

  test("V42 two sites of one origin never read or overwrite each other's", async () => {
    const [one, two] = [await served(counting("shop")), await served(counting("notes"))];
    const cookie = (given: readonly string[]) => given.map((field) => field.split(";")[0]).join("; ");
    const first = (await visit(one)).cookies;
    const second = (await visit(two, { Cookie: cookie(first) })).cookies;
    expect(second[0]?.startsWith(nameOf("notes"))).toBe(true);
    const both = cookie([...first, ...second]);
    expect(await visit(one, { Cookie: both })).toEqual({ text: "2", cookies: [] });
    expect(await visit(two, { Cookie: both })).toEqual({ text: "2", cookies: [] });
    expect(await visit(one, { Cookie: both })).toEqual({ text: "3", cookies: [] });
  });

  test("a cookie that the site didn't give out is replaced", async () => {
    const { text, cookies } = await visit(await served(counting("shop")), { Cookie: `${nameOf("shop")}=${"0".repeat(32)}` });
    expect([text, cookies.length]).toEqual(["1", 1]);
    expect(cookies[0]).not.toContain("0".repeat(32));
  });
});

describe("links are right under a prefix", () => {
  test.each([
    ["", "/cart"],
    ["/website/shop", "/website/shop/cart"],
    ["/d/demo/website/shop/", "/d/demo/website/shop/cart"],
    ["//evil.example", "/cart"],
    ['/"><script>', "/cart"],
    ["javascript:", "/cart"],
  ])("%j", async (prefix, expected) => {
    const site = new WebsiteEnvironment(environmentCard({ name: "shop" }));
    site.page("/", () => html`${link("/cart")}`);
    site.app.get("/go", (c) => c.redirect(link("cart")));
    const headers = { "X-Forwarded-Prefix": prefix };
    const url = await served(site);
    expect(await (await fetch(url, { headers })).text()).toBe(expected);
    const redirect = await fetch(`${url}/go`, { headers, redirect: "manual" });
    expect(redirect.headers.get("location")).toBe(expected);
  });
});

test("a page that is a plain string is escaped, and is a type error", async () => {
  const site = new WebsiteEnvironment(environmentCard({ name: "shop" }));
  // @ts-expect-error a page is made with the html template
  site.page("/", () => "<script>");
  expect(await (await fetch(await served(site))).text()).toBe("&lt;script&gt;");
});

describe("a page that could never be seen is refused", () => {
  const card = environmentCard({ name: "shop", additionalInterfaces: [{ url: "/tools", transport: "mcp" }] });

  test.each([
    ["cart", "a path starts with /"],
    ["/.well-known/agent-env.json", "the environment itself answers at /.well-known/agent-env.json, and under it"],
    ["/agentenv/ext/x", "the environment itself answers at /agentenv, and under it"],
    ["/tools", "the environment itself answers at /tools, and under it"],
    ["/api/health", "the environment itself answers at /api/health, and under it"],
  ])("%j", (path, why) => {
    const add = () => new WebsiteEnvironment(card).page(path, () => html``);
    expect(add).toThrow(expect.objectContaining({ message: `page "${path}" can't be at "${path}"`, why, next: "give it another path" }));
  });

  test("one that is there already", () => {
    const site = new WebsiteEnvironment(card).page("/mcp", () => html``);
    expect(() => site.page("/mcp", () => html``)).toThrow('page "/mcp" is there twice');
  });
});

test("W1.3 prompts alone serve no MCP: a site that has only these doesn't start", async () => {
  const site = new WebsiteEnvironment(environmentCard({ name: "shop" })).prompt("plan", { description: "Plans.", run: () => "" });
  expect(site.servesMcp()).toBe(false);
  await expect(site.serve({ host: "127.0.0.1", port: 0 })).rejects.toMatchObject({
    message: "shop has prompts, and neither a tool nor a resource",
    why: "a website serves MCP if it has one of these, and prompts go with it",
    next: "add a tool or a resource, or leave the prompts out",
  });
});

test("a page that throws is 500 without a stack", async () => {
  const site = new WebsiteEnvironment(environmentCard({ name: "shop" })).page("/", () => {
    throw new Error("secret");
  });
  const answer = await fetch(await served(site));
  expect([answer.status, await answer.text()]).toEqual([500, "Internal Server Error"]);
});
