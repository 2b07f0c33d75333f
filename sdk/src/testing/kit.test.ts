import { createServer } from "node:net";
import { environmentCard, html, jsonData, link, McpEnvironment, now, toolContext, WebsiteEnvironment, z } from "@agent-env/sdk";
import { testKit } from "@agent-env/sdk/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";

beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());

/** A shop with all that a kit can use: pages behind a session, a form, tools, data, an extension. */
function shop(): WebsiteEnvironment {
  let orders: string[] = [];
  const site = new WebsiteEnvironment(environmentCard({ name: "shop" }));
  const carts = site.sessions(() => ({ items: 0 }));
  const order = (product: string) => orders.push(`${product} for ${toolContext().caller.role} at ${now().toISOString()}`);
  site.page("/", () => html`<ul>${orders.map((text) => html`<li>${text}</li>`)}</ul>`);
  site.page("/cart", (c) => html`${carts.of(c).items} items`);
  site.page("/broken", () => {
    throw new Error("broken");
  });
  site.app.post("/cart", async (c) => {
    carts.of(c).items += Number((await c.req.formData()).get("count"));
    return c.redirect(link("/cart"), 303);
  });
  site.app.get("/out", (c) => c.redirect("/cart"));
  site.app.get("/away", (c) => c.redirect("https://elsewhere.example/"));
  site.app.get("/loop", (c) => c.redirect(link("/loop")));
  site.tool("place_order", {
    description: "Orders.",
    input: { product: z.string().meta({ "x-mcp-header": "Product" }) },
    run: ({ product }) => void order(product),
  });
  site.tool("count_orders", { description: "Counts.", output: z.int(), run: () => orders.length });
  site.extension(
    "urn:x:find/v1",
    { op: "find" },
    { method: "GET", input: { at: z.int() }, run: ({ at }) => ({ order: orders[at] ?? null }) },
  );
  site.extension("urn:x:drop/v1", { name: "drop" }, { input: { at: z.int() }, run: ({ at }) => void orders.splice(at, 1) });
  const Orders = z.object({ orders: z.array(z.string()) });
  return site.data(
    jsonData(Orders, {
      reset: () => {
        orders = [];
      },
      add: (seed) => orders.push(...seed.orders),
      get: () => ({ orders }),
    }),
  );
}

describe("W1.1 a site is used in process", () => {
  test("W1.4 its tools as a role at a time, its page, its data", async () => {
    const kit = testKit(shop());
    await kit.as("alice").at("2026-03-01T09:00:00Z").call("place_order", { product: "<茶>" });
    const order = "<茶> for alice at 2026-03-01T09:00:00.000Z";
    expect(await kit.page("/")).toBe("<ul><li>&lt;茶&gt; for alice at 2026-03-01T09:00:00.000Z</li></ul>");
    expect(await kit.data()).toEqual({ orders: [order] });
    expect(await kit.call("count_orders")).toMatchObject({ text: "1", structuredContent: { result: 1 }, isError: false });
    await kit.reset();
    await kit.add({ orders: ["tea"] });
    await kit.add([{ kind: "text", text: '{"orders":["toast"]}' }]);
    expect(await kit.parts()).toEqual([{ kind: "data", data: { orders: ["tea", "toast"] } }]);
    expect(await kit.extension("urn:x:find/v1", "find", { at: 1 })).toEqual({ status: 200, body: { order: "toast" } });
    expect(await kit.extension("urn:x:drop/v1", "drop", { at: 0 })).toEqual({ status: 200, body: {} });
    expect(await kit.data()).toEqual({ orders: ["toast"] });
  });

  test("W1.5 visitors have cookies of their own, forms are followed, prefixes hold", async () => {
    const kit = testKit(shop()).under("/website/shop");
    expect(await kit.submit("/cart", { count: "2" })).toBe("2 items");
    expect(await kit.page("/cart")).toBe("2 items");
    expect(await kit.visitor().page("/cart")).toBe("0 items");
    expect((await kit.fetch("/cart", { method: "POST", body: new URLSearchParams({ count: "1" }) })).headers.get("location")).toBe(
      "/website/shop/cart",
    );
  });

  test.each([
    ["/nope", "/nope: status 404: 404 Not Found"],
    ["/broken", "/broken: status 500: Internal Server Error"],
    ["/out", "/out: redirects to /cart, which is outside the prefix /website/shop"],
    ["/away", "/away: redirects to https://elsewhere.example/, which is elsewhere"],
    ["/loop", "/loop: status 302, 5 redirects followed"],
  ])("%s is no page", async (path, message) => {
    await expect(testKit(shop()).under("/website/shop").page(path)).rejects.toThrow(new Error(message));
  });

  test("what goes wrong is told", async () => {
    const kit = testKit(shop());
    expect(await kit.call("place_order", {})).toMatchObject({
      isError: true,
      text: "Error executing tool place_order: product: Invalid input: expected string, received undefined",
    });
    await expect(kit.add([])).rejects.toThrow("data/add: invalid_request (parts: Too small: expected array to have >=1 items)");
    await expect(kit.add({ orders: 1 })).rejects.toThrow("data/add: the data isn't as this environment takes it");
    await expect(kit.resource("x://y")).rejects.toMatchObject({ name: "McpRequestFailed", code: -32601 });
    await expect(kit.extension("urn:x:find/v1", "lose")).rejects.toThrow('the card lists no method "lose" of urn:x:find/v1');
  });

  test("W1.3 a site without tools serves no MCP", async () => {
    const notes = new WebsiteEnvironment(environmentCard({ name: "notes" })).page("/", () => html`notes`);
    expect(await testKit(notes).page("/")).toBe("notes");
    await expect(testKit(notes).call("add")).rejects.toThrow("notes serves no MCP: it has neither a tool nor a resource");
  });
});

describe("an MCP server is used in process", () => {
  const server = () =>
    new McpEnvironment(environmentCard({ name: "items" }))
      .tool("work", {
        description: "Works.",
        async run(_args, { client }) {
          await client.progress(1, { total: 2, message: "half" });
          await client.log("debug", { fine: true });
          return "done";
        },
      })
      .tool("ask", {
        description: "Asks.",
        async run(_args, { client, caller }) {
          const form = await client.elicit({ message: "Name?", input: { name: z.string() } });
          const page = await client.openUrl({ message: "Pay", url: "https://pay.example/" });
          const sample = await client.sample({ messages: [{ role: "user", content: { type: "text", text: "Capital?" } }], maxTokens: 5 });
          return [form, page, sample.content, await client.roots(), caller.session];
        },
      })
      .resource("items://text", { name: "text", read: ({ caller }) => `for ${caller.role}` })
      .resource("items://bytes", { name: "bytes", read: () => Uint8Array.of(1, 2) })
      .prompt("plan", { description: "Plans.", input: { days: z.int() }, run: ({ days }) => `${days} days` });

  test("what a call says while it runs is kept", async () => {
    expect(await testKit(server()).call("work")).toEqual({
      text: "done",
      content: [{ type: "text", text: "done" }],
      structuredContent: undefined,
      isError: false,
      progress: [{ progress: 1, total: 2, message: "half" }],
      log: [{ level: "debug", data: { fine: true } }],
    });
  });

  test("what a call asks is answered, or refused as not declared", async () => {
    const kit = testKit(server())
      .as("alice", "s1")
      .answering({
        form: (message) => ({ name: `Ada to ${message}` }),
        openUrl: () => "decline",
        model: (text) => `${text} Paris`,
        roots: [{ uri: "file:///work" }],
      });
    expect(JSON.parse((await kit.call("ask")).text)).toEqual([
      { action: "accept", content: { name: "Ada to Name?" } },
      "decline",
      { type: "text", text: "Capital? Paris" },
      [{ uri: "file:///work" }],
      "s1",
    ]);
    const cancelling = testKit(server()).answering({ form: () => "cancel", openUrl: () => "cancel", model: () => "", roots: [] });
    expect((await cancelling.call("ask")).text).toContain('[{"action":"cancel"},"cancel"');
    await expect(testKit(server()).call("ask")).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  });

  test("a call can be cancelled", async () => {
    const abort = new AbortController();
    const seen = Promise.withResolvers<void>();
    const env = new McpEnvironment(environmentCard({ name: "items" })).tool("wait", {
      description: "Waits.",
      run: (_args, { signal }) => {
        signal.addEventListener("abort", () => seen.resolve());
        abort.abort();
        return seen.promise;
      },
    });
    await expect(testKit(env).call("wait", {}, { signal: abort.signal })).rejects.toThrow();
    await seen.promise;
  });

  test("resources and prompts are read", async () => {
    const kit = testKit(server());
    expect(await kit.as("alice").resource("items://text")).toBe("for alice");
    expect(await kit.resource("items://bytes")).toEqual(Buffer.from([1, 2]));
    expect(await kit.prompt("plan", { days: "3" })).toEqual([{ role: "user", content: { type: "text", text: "3 days" } }]);
    expect((await kit.tools()).map(({ name }) => name)).toEqual(["work", "ask"]);
    expect(kit.card()).toMatchObject({ name: "items" });
  });

  test("no network is used", async () => {
    const listen = vi.spyOn(createServer().constructor.prototype, "listen");
    const fetched = vi.spyOn(globalThis, "fetch");
    await testKit(server()).call("work");
    expect([listen.mock.calls, fetched.mock.calls]).toEqual([[], []]);
  });
});
