import { afterAll, afterEach, describe, expect, test } from "vitest";
import { connected, messagesIn, post, raw, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway, type StartOptions } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, type McpOptions, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
const fixture = async (options: McpOptions): Promise<McpFixture> => {
  const made = await mcpFixture(options);
  clean.push(() => made.close());
  return made;
};
const mcp = (name: string, { url }: { url: string }) => ({ name, kind: "mcp" as const, url });
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const call = (name: string, id: unknown = 1) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } });

afterAll(endHosts);

describe.each(HOSTS)("sessions and restarts on the $host host", ({ host, start }) => {
  const started = async (options: StartOptions): Promise<RunningGateway> => {
    const gateway = await start(options);
    clean.push(() => gateway.stop());
    return gateway;
  };

  test.each([404, 400] as const)(
    "G5 F2 F4 F5 a server that answers %i for a session it has lost is healed, and the call goes on",
    async (unknownSession) => {
      const items = await fixture({ name: "items", unknownSession, tools: [[{ name: "items_n" }, ({ session }) => text(session)]] });
      const gateway = await started({ record: { servers: [mcp("items", items)] } });
      const client = await connected(gateway);
      const before = said(await client.callTool({ name: "items_n" }));
      items.forgetSessions();
      const after = said(await client.callTool({ name: "items_n" }));
      expect(after).not.toBe(before);
      expect(items.calls).toBe(2);
      expect(said(await client.callTool({ name: "items_n" }))).toBe(after);
      await client.close();
    },
  );

  test.each([
    [2, "ok", 1],
    [3, "items: HTTP 404 for a session just opened", 0],
  ])("G5 N2 a server that starts %i times while a call waits: %s", async (starts, answer, calls) => {
    let left = starts;
    const items = await fixture({
      name: "items",
      tools: [[{ name: "items_n" }, () => text("ok")]],
      intercept: (_request, _response, body) => {
        if (body.includes('"tools/call"') && left > 0) {
          left--;
          items.forgetSessions();
        }
        return false;
      },
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const client = await connected(gateway);
    expect(said(await client.callTool({ name: "items_n" }))).toBe(answer);
    expect([left, items.calls]).toEqual([0, calls]);
    await client.close();
  });

  test("F3 F14 callers have sessions of their own with each server, and one lost session leaves the others", async () => {
    const items = await fixture({ name: "items", tools: [[{ name: "items_n" }, ({ session }) => text(session)]] });
    const stock = await fixture({ name: "stock", answerAs: "json", tools: [[{ name: "stock_n" }, ({ session }) => text(session)]] });
    const gateway = await started({ record: { servers: [mcp("items", items), mcp("stock", stock)] } });
    const [one, two] = [await connected(gateway), await connected(gateway)];
    const of = async (client: typeof one, name: string) => said(await client.callTool({ name }));
    const [a, b, c] = [await of(one, "items_n"), await of(two, "items_n"), await of(one, "stock_n")];
    expect(new Set([a, b]).size).toBe(2);
    items.forgetSessions();
    expect([await of(one, "stock_n"), (await of(one, "items_n")) === a]).toEqual([c, false]);
    await Promise.all([one.close(), two.close()]);
  });

  test("G5 30 calls while the server restarts all succeed, each run once", async () => {
    const options: McpOptions = { name: "items", tools: [[{ name: "items_n" }, () => text("ok")]] };
    const items = await fixture(options);
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const client = await connected(gateway);
    await client.callTool({ name: "items_n" });
    await items.close();
    const burst = Promise.all(Array.from({ length: 30 }, () => client.callTool({ name: "items_n" })));
    const again = await fixture({ ...options, port: items.port });
    expect((await burst).map(said)).toEqual(Array.from({ length: 30 }, () => "ok"));
    expect(again.calls).toBe(30);
    await client.close();
  });

  test("F8 F9 after a restart of the gateway the same session goes on, with the same key at the servers", async () => {
    const items = await fixture({
      name: "items",
      tools: [[{ name: "items_n" }, ({ meta, session }) => text([meta["agentenv.io/session"], session])]],
    });
    const gateway = await started({ restarts: true, record: { servers: [mcp("items", items)] } });
    const session = { "mcp-session-id": (await post(gateway, "/mcp", INITIALIZE)).header("mcp-session-id") ?? "" };
    const ask = async () => said((messagesIn(await post(gateway, "/mcp", call("items_n"), session))[0] as { result: unknown }).result);
    const before = await ask();
    await gateway.restart();
    expect(await ask()).toBe(before);
    const burst = await Promise.all(Array.from({ length: 30 }, ask));
    expect(new Set(burst)).toEqual(new Set([before]));
  });

  // The container gateway starts anew, and waits for the cards of all sites (W2.3).
  if (host === "worker") {
    test("W7.3 after a restart the first call of a site's tool doesn't wait for the site's card", async () => {
      let hasCard = true;
      const shop = await fixture({
        name: "shop",
        card: { name: "shop", capabilities: { operations: [] }, additionalInterfaces: [{ url: "mcp", transport: "mcp" }] },
        tools: [[{ name: "shop_n" }, () => text("ok")]],
        intercept: ({ url }) => !hasCard && url === "/.well-known/agent-env.json",
      });
      const site = { name: "shop", kind: "website" as const, url: shop.url, frontend_url: shop.url };
      const gateway = await started({ restarts: true, record: { servers: [site] } });
      const session = { "mcp-session-id": (await post(gateway, "/mcp", INITIALIZE)).header("mcp-session-id") ?? "" };
      const ask = async () => said((messagesIn(await post(gateway, "/mcp", call("shop_n"), session))[0] as { result: unknown }).result);
      expect(await ask()).toBe("ok");
      hasCard = false;
      await gateway.restart();
      expect(await ask()).toBe("ok");
    });
  }

  test("a session that was closed stays closed after a restart", async () => {
    const items = await fixture({ name: "items", tools: [] });
    const gateway = await started({ restarts: true, record: { servers: [mcp("items", items)] } });
    const session = { "mcp-session-id": (await post(gateway, "/mcp", INITIALIZE)).header("mcp-session-id") ?? "" };
    expect((await raw(gateway, "/mcp", { method: "DELETE", headers: session })).status).toBe(200);
    await gateway.restart();
    expect((await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, session)).status).toBe(404);
  });

  test("F17 a session of one deployment is unknown to another", async () => {
    const items = await fixture({ name: "items", tools: [] });
    const [one, two] = [
      await started({ record: { servers: [mcp("items", items)] } }),
      await started({ record: { servers: [mcp("items", items)] } }),
    ];
    const session = { "mcp-session-id": (await post(one, "/mcp", INITIALIZE)).header("mcp-session-id") ?? "" };
    expect((await post(two, "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, session)).status).toBe(404);
  });

  test("G5 a call that breaks in flight is not repeated: its outcome is unknown, and says so", async () => {
    let cut = true;
    const items = await fixture({
      name: "items",
      tools: [
        [{ name: "items_cut" }, () => text("ok")],
        [{ name: "items_read", annotations: { readOnlyHint: true } }, () => text("read")],
      ],
      intercept: (request, _response, body) => {
        if (!cut || !body.includes("tools/call")) return false;
        cut = false;
        items.calls++;
        request.socket.destroy();
        return true;
      },
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const [broken] = messagesIn(await post(gateway, "/mcp", call("items_cut"))) as [
      { result: { isError: boolean; _meta: unknown; content: unknown } },
    ];
    expect([broken.result.isError, broken.result._meta, items.calls]).toEqual([
      true,
      { "agentenv.io/error": { reason: "outcome_unknown", server: "items", delivered: null } },
      1,
    ]);
    expect(said(broken.result)).toMatch(/^items: connection (reset|lost); the call may have run$/);
    cut = true;
    const [repeated] = messagesIn(await post(gateway, "/mcp", call("items_read"))) as [{ result: unknown }];
    expect([said(repeated.result), items.calls]).toEqual(["read", 3]);
  });

  test("F46 a server that answers with a page is named in the error", async () => {
    let page = false;
    const items = await fixture({
      name: "items",
      tools: [[{ name: "items_n" }, () => text("ok")]],
      intercept: (_request, response, body) => {
        if (!page || !body.includes("tools/call")) return false;
        response.writeHead(200, { "content-type": "text/html" }).end("<html>");
        return true;
      },
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    page = true;
    const [answer] = messagesIn(await post(gateway, "/mcp", call("items_n"))) as [{ result: { _meta: unknown } }];
    expect([said(answer.result), answer.result._meta]).toEqual([
      "items: HTTP 200 text/html",
      { "agentenv.io/error": { reason: "bad_answer", server: "items", delivered: true } },
    ]);
  });

  test("F30 a cancelled call is cancelled at its server, under the server's id, and never answered", async () => {
    let ended = false;
    const items = await fixture({
      name: "items",
      tools: [
        [
          { name: "items_wait" },
          ({ signal }) =>
            new Promise((resolve) =>
              signal.addEventListener("abort", () => {
                ended = true;
                resolve(text("late"));
              }),
            ),
        ],
      ],
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const client = await connected(gateway);
    const stop = new AbortController();
    const pending = client.callTool({ name: "items_wait" }, undefined, { signal: stop.signal });
    await until("the call is at the server", 5_000, () => items.calls === 1);
    const sent = JSON.parse(items.received.findLast(({ body }) => body.includes("tools/call"))?.body.toString() ?? "{}");
    stop.abort("enough");
    await expect(pending).rejects.toThrow();
    await until("the server was told", 5_000, () => items.received.some(({ body }) => body.includes("notifications/cancelled")));
    const notice = JSON.parse(items.received.find(({ body }) => body.includes("notifications/cancelled"))?.body.toString() ?? "{}");
    expect(notice.params).toEqual({ requestId: sent.id, reason: "enough" });
    await until("its stream is closed", 5_000, () => ended);
    await client.close();
  });

  test("F40 a server's redirect within its origin is followed here", async () => {
    const items = await fixture({
      name: "items",
      tools: [[{ name: "items_n" }, () => text("ok")]],
      intercept: (request, response) => {
        if (request.url !== "/moved") return false;
        response.writeHead(307, { location: "/mcp" }).end();
        return true;
      },
    });
    const gateway = await started({ record: { servers: [{ ...mcp("items", items), mcp_path: "/moved" }] } });
    const [answer] = messagesIn(await post(gateway, "/mcp", call("items_n"))) as [{ result: unknown }];
    expect(said(answer.result)).toBe("ok");
  });

  test("F35 a session's stream is told when its list has changed", async () => {
    const items = await fixture({ name: "items", tools: [[{ name: "items_n" }, () => text("ok")]] });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const session = (await post(gateway, "/mcp", INITIALIZE)).header("mcp-session-id") ?? "";
    const stream = await fetch(`${gateway.base}/mcp`, { headers: { accept: "text/event-stream", "mcp-session-id": session } });
    const reader = stream.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(": open\n\n");
    items.tools.set("items_new", { tool: { name: "items_new", inputSchema: { type: "object" } }, handler: () => text("new") });
    await until("the new tool is known", 5_000, async () => (await post(gateway, "/mcp", call("items_new"))).text.includes('"new"'));
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain(
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    );
    await reader?.cancel();
  });

  test("F35 a server's own notice that its list has changed is enough", async () => {
    let notify = (): void => undefined;
    const items = await fixture({
      name: "items",
      tools: [],
      intercept: (request, response) => {
        if (request.method !== "GET" || request.url !== "/mcp") return false;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": open\n\n");
        notify = () => void response.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
        return true;
      },
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    await until("the gateway listens to the server", 5_000, () => items.received.some(({ method }) => method === "GET"));
    items.tools.set("items_new", { tool: { name: "items_new", inputSchema: { type: "object" } }, handler: () => text("new") });
    notify();
    await until("the new tool is listed", 5_000, async () =>
      (await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })).text.includes("items_new"),
    );
  });

  test("a server that ends its notification stream is looked for at once", async () => {
    let end = (): void => undefined;
    const options: McpOptions = {
      name: "items",
      tools: [],
      intercept: (request, response) => {
        if (request.method !== "GET" || request.url !== "/mcp") return false;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": open\n\n");
        end = () => void response.end();
        return true;
      },
    };
    const items = await fixture(options);
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    await until("the gateway listens to the server", 5_000, () => items.received.some(({ method }) => method === "GET"));
    const openedMs = Date.now();
    await until("the stream has been open for more than a second", 3_000, () => Date.now() - openedMs > 1_100);
    await items.close();
    end();
    await until("/health says so", 5_000, async () => (await raw(gateway, "/health")).text.includes('"status":"down"'));
    await fixture({ ...options, port: items.port });
    await until("it is up again", 8_000, async () => (await raw(gateway, "/health")).text === '{"status":"ok"}');
  });

  test("an event without data at the start of a stream is no message", async () => {
    const items = await fixture({ name: "items", primes: true, tools: [[{ name: "items_n" }, () => text("ok")]] });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    expect(said((messagesIn(await post(gateway, "/mcp", call("items_n")))[0] as { result: unknown }).result)).toBe("ok");
  });

  test("a stream that ends before its reply is taken up again behind its last event", async () => {
    let rest = "";
    const items = await fixture({
      name: "items",
      tools: [[{ name: "items_n" }, () => text("never")]],
      intercept: (request, response, body) => {
        if (request.headers["last-event-id"] === "7") {
          response.writeHead(200, { "content-type": "text/event-stream" }).end(rest);
          return true;
        }
        if (!body.includes("tools/call")) return false;
        const { id } = JSON.parse(body.toString());
        rest = `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: text("resumed") })}\n\n`;
        response.writeHead(200, { "content-type": "text/event-stream" }).end("id: 7\nretry: 10\ndata: \n\n");
        return true;
      },
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    expect(said((messagesIn(await post(gateway, "/mcp", call("items_n")))[0] as { result: unknown }).result)).toBe("resumed");
  });

  test("in the mode consistent one call is under way at a time, whatever its server", async () => {
    let underWay = 0;
    let most = 0;
    const tool = (name: string): [{ name: string }, () => Promise<unknown>] => [
      { name },
      async () => {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay--;
        return text("ok");
      },
    ];
    const items = await fixture({ name: "items", tools: [tool("items_n")] });
    const stock = await fixture({ name: "stock", tools: [tool("stock_n")] });
    const gateway = await started({ record: { gateway_mode: "consistent", servers: [mcp("items", items), mcp("stock", stock)] } });
    await Promise.all(Array.from({ length: 20 }, (_, n) => post(gateway, "/mcp", call(n % 2 === 0 ? "items_n" : "stock_n"))));
    expect([items.calls + stock.calls, most]).toEqual([20, 1]);
  });

  test("a call that takes more than a second becomes a stream", async () => {
    const items = await fixture({
      name: "items",
      answerAs: "json",
      tools: [[{ name: "items_slow" }, () => new Promise((resolve) => setTimeout(resolve, 1_300, text("slow")))]],
    });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const answer = await post(gateway, "/mcp", call("items_slow"));
    expect([answer.header("content-type"), answer.header("cache-control"), messagesIn(answer)]).toEqual([
      "text/event-stream",
      "no-store",
      [{ jsonrpc: "2.0", id: 1, result: text("slow") }],
    ]);
  });
});
