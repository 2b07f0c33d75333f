import { afterAll, afterEach, describe, expect, test } from "vitest";
import { connected, messagesIn, post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway, type StartOptions } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { listeningPort, runNodeHost } from "../../fixtures/gateway/node-host.ts";
import { card, type Recorder, recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
const kept = <T extends Recorder | McpFixture>(server: T): T => {
  clean.push(() => server.close());
  return server;
};
const website = (name: string, { url }: { url: string }) => ({ name, kind: "website" as const, url, frontend_url: url });
const mcp = (name: string, { url }: { url: string }) => ({ name, kind: "mcp" as const, url });
const MCP_CARD = { additionalInterfaces: [{ url: "/mcp", transport: "mcp" }] };

afterAll(endHosts);

describe.each(HOSTS)("start on the $host host", ({ start }) => {
  const started = async (options: StartOptions): Promise<RunningGateway> => {
    const gateway = await start(options);
    clean.push(() => gateway.stop());
    return gateway;
  };
  const serverOf = async (gateway: RunningGateway, name: string) => {
    const { servers } = (await raw(gateway, "/state")).json() as {
      servers: { name: string; warnings?: string[]; tools: number; status: string; reason: string | null }[];
    };
    return servers.find((server) => server.name === name);
  };

  test("W2.1 a site whose card declares an mcp interface is one more MCP server, listed and called in its place", async () => {
    const shop = kept(
      await mcpFixture({
        name: "shop",
        card: card("shop", MCP_CARD),
        tools: [[{ name: "shop_order" }, ({ meta }) => text({ role: meta["agentenv.io/role"] })]],
      }),
    );
    const items = kept(await mcpFixture({ name: "items", tools: [[{ name: "items_add" }, () => text("")]] }));
    const gateway = await started({ record: { servers: [website("shop", shop), mcp("items", items)] } });
    const client = await connected(gateway, "alice");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["list_website_urls", "items_add", "shop_order"]);
    expect((await client.callTool({ name: "shop_order" })).content).toEqual([{ type: "text", text: '{"role":"alice"}' }]);
    await client.close();
  });

  const withoutTools: [string, () => { status: number; body?: unknown; headers?: Record<string, string> }, string | undefined][] = [
    ["404", () => ({ status: 404 }), undefined],
    ["302", () => ({ status: 302, headers: { location: "/login" } }), "its card is HTTP 302"],
    ["401", () => ({ status: 401 }), "its card is HTTP 401"],
    ["200 HTML", () => ({ status: 200, body: "<html>" }), "its card is no JSON"],
    ["a card without an interface", () => ({ status: 200, body: card("s") }), undefined],
    [
      "another transport only",
      () => ({ status: 200, body: card("s", { additionalInterfaces: [{ url: "/mcp", transport: "sse" }] }) }),
      undefined,
    ],
    [
      "an endpoint on another origin",
      () => ({ status: 200, body: card("s", { additionalInterfaces: [{ url: "http://127.0.0.1:1/mcp", transport: "mcp" }] }) }),
      "its card declares an MCP endpoint on another origin, which is never contacted",
    ],
  ];
  test("V18 W2.2 a site that answers without an interface of its own is up, without tools", async () => {
    const sites = await Promise.all(withoutTools.map(async ([, answer]) => kept(await recorder({ card: answer }))));
    const gateway = await started({ record: { servers: sites.map((site, n) => website(`s${n}`, site)) } });
    for (const [n, [name, , warning]] of withoutTools.entries()) {
      const server = await serverOf(gateway, `s${n}`);
      expect([name, server?.status, server?.tools, server?.warnings]).toEqual([
        name,
        "up",
        0,
        warning === undefined ? undefined : [warning],
      ]);
    }
  });

  test("W2.2 a name that an MCP server has is skipped, with a warning that names both", async () => {
    const shop = kept(await mcpFixture({ name: "shop", card: card("shop", MCP_CARD), tools: [[{ name: "site_tool" }, () => text("")]] }));
    const other = kept(await mcpFixture({ name: "shop", tools: [[{ name: "server_tool" }, () => text("")]] }));
    const gateway = await started({ record: { servers: [mcp("shop", other), website("shop", shop)] } });
    const state = (await raw(gateway, "/state")).json() as {
      mcp_servers: { name: string; tools: { name: string }[] }[];
      servers: { warnings?: string[] }[];
    };
    expect(state.mcp_servers.flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(["list_website_urls", "server_tool"]);
    expect(state.servers[1]?.warnings).toEqual([
      'website "shop" serves tools, but MCP server "shop" has that name: its tools are not listed',
    ]);
  });

  test("V19 W2.3 while a site is down the gateway is 503 and says what it waits for; it is ready within 3 s of the site's answer", async () => {
    const held = kept(await recorder());
    const { port } = held;
    await held.close();
    const items = kept(await mcpFixture({ name: "items", tools: [] }));
    const gateway = await started({ record: { servers: [website("shop", held), mcp("items", items)] }, waitUntilReady: false });
    await until("only the site is waited for", 5_000, async () => {
      const { text } = await raw(gateway, "/health");
      return text.includes("refused") && !text.includes("items");
    });
    const health = await raw(gateway, "/health");
    expect([health.status, health.json()]).toEqual([
      503,
      {
        status: "starting",
        waiting: [
          {
            name: "shop",
            kind: "website",
            reason: "connection refused",
            since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          },
        ],
      },
    ]);
    const card503 = await raw(gateway, "/.well-known/agent-env.json");
    expect([card503.status, card503.header("retry-after"), Object.keys(card503.json() as object)]).toEqual([503, "1", ["error"]]);
    kept(await recorder({ port, card: () => ({ status: 200, body: card("shop") }) }));
    await until("the gateway is ready", 3_000, async () => (await raw(gateway, "/health")).status === 200);
    expect((await raw(gateway, "/.well-known/agent-env.json")).status).toBe(200);
  });

  test("V2 JSON that is no card, and 5xx, 408, 425 and 429, are tried again", async () => {
    const answers = [
      { status: 200, body: {} },
      { status: 200, body: { name: "" } },
      { status: 200, body: [] },
      { status: 503 },
      { status: 408 },
      { status: 425 },
      { status: 429 },
      { status: 200, body: card("shop", MCP_CARD) },
    ];
    let asked = 0;
    const inner = kept(
      await mcpFixture({
        name: "shop",
        tools: [[{ name: "order" }, () => text("")]],
        intercept: (request, response) => {
          if (request.url !== "/.well-known/agent-env.json") return false;
          const { status, body } = answers[Math.min(asked++, answers.length - 1)] ?? { status: 500 };
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? null));
          return true;
        },
      }),
    );
    const gateway = await started({ record: { servers: [website("shop", inner)] } });
    expect(asked).toBe(answers.length);
    expect((await serverOf(gateway, "shop"))?.tools).toBe(1);
  });

  test("V21 an MCP server that is down after the start takes nobody else's tools away, and /state names it", async () => {
    const items = kept(await mcpFixture({ name: "items", tools: [[{ name: "items_add" }, () => text("added")]] }));
    const stock = kept(await mcpFixture({ name: "stock", tools: [[{ name: "stock_count" }, () => text("7")]] }));
    const gateway = await started({
      record: { servers: [mcp("items", items), mcp("stock", stock)] },
      settings: { GATEWAY_UPSTREAM_WAIT_S: "1" },
    });
    await items.close();
    const call = (name: string) => post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
    const [down] = messagesIn(await call("items_add")) as [{ result: { isError: boolean; _meta: unknown } }];
    expect([down.result.isError, down.result._meta]).toEqual([
      true,
      { "agentenv.io/error": { reason: "server_down", server: "items", delivered: false } },
    ]);
    expect((await call("stock_count")).json()).toEqual({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "7" }] } });
    const [listed] = messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })) as [
      { result: { tools: { name: string }[] } },
    ];
    expect(listed.result.tools.map(({ name }) => name)).toEqual(["items_add", "stock_count"]);
    expect(await serverOf(gateway, "items")).toMatchObject({ status: "down", reason: "connection refused" });
    const health = await raw(gateway, "/health");
    expect([health.status, health.json()]).toMatchObject([
      200,
      { status: "degraded", servers: [{ name: "items", kind: "mcp", status: "down", reason: "connection refused" }] },
    ]);
  });
});

describe("start on the worker host", () => {
  test("V20 a deployment past its budget stays 503 with the reason, and is retried", async () => {
    const held = kept(await recorder());
    const { port } = held;
    await held.close();
    const gateway = await HOSTS[1]?.start({
      record: { servers: [website("shop", held)] },
      settings: { GATEWAY_INTERNAL_SERVER_TIMEOUT_S: "1" },
      waitUntilReady: false,
    });
    if (gateway === undefined) throw new Error("no worker host");
    clean.push(() => gateway.stop());
    const wanted = { error: "Website card(s) not readable after 1s: shop (connection refused)" };
    await until("the budget is over", 10_000, async () => JSON.stringify((await raw(gateway, "/state")).json()) === JSON.stringify(wanted));
    kept(await recorder({ port }));
    await until("the gateway is ready", 5_000, async () => (await raw(gateway, "/state")).status === 200);
  });
});

describe("start on the node host", () => {
  test("V20 W2.3 a site unreadable past the budget ends the process, naming it with the last reason", async () => {
    const bad = kept(await recorder({ card: () => ({ status: 502 }) }));
    const gone = kept(await recorder());
    await gone.close();
    const record = { name: "demo", auth: { mode: "open" }, servers: [website("shop", gone), website("blog", bad)] };
    const gateway = await runNodeHost({
      GATEWAY_RECORD: JSON.stringify(record),
      MCP_HOST: "127.0.0.1",
      MCP_PORT: "0",
      GATEWAY_INTERNAL_SERVER_TIMEOUT_S: "1",
    });
    expect(await gateway.exited).toBe(1);
    expect(gateway.output()).toContain("Website card(s) not readable after 1s: shop (connection refused), blog (HTTP 502)\n");
  });

  test("W2.3 where nothing restarts the process, its entry point begins the start again", async () => {
    const gone = kept(await recorder());
    const { port } = gone;
    await gone.close();
    const gateway = await runNodeHost({
      INTERNAL_MCP_SERVERS: `crm=${gone.url}/mcp`,
      MCP_HOST: "127.0.0.1",
      MCP_PORT: "0",
      GATEWAY_INTERNAL_SERVER_TIMEOUT_S: "1",
      GATEWAY_RESTARTS_ITSELF: "1",
    });
    clean.push(async () => gateway.child.kill("SIGKILL"));
    const base = `http://127.0.0.1:${await listeningPort(gateway)}`;
    await until("the first start has failed", 5_000, () =>
      gateway.output().includes("MCP server(s) not ready after 1s: crm (connection refused)\n"),
    );
    kept(await mcpFixture({ name: "crm", port, tools: [] }));
    await until("the gateway is ready", 5_000, async () => (await fetch(`${base}/health`)).ok);
  });

  test("V21 an MCP server down past the budget ends the process, naming it", async () => {
    const gone = kept(await recorder());
    await gone.close();
    const gateway = await runNodeHost({
      INTERNAL_MCP_SERVERS: `crm=${gone.url}/mcp`,
      MCP_HOST: "127.0.0.1",
      MCP_PORT: "0",
      GATEWAY_INTERNAL_SERVER_TIMEOUT_S: "1",
    });
    expect(await gateway.exited).toBe(1);
    expect(gateway.output()).toContain("MCP server(s) not ready after 1s: crm (connection refused)\n");
  });

  const refused: [Record<string, string>, string, string][] = [
    [{ INTERNAL_MCP_SERVERS: "a,a" }, 'INTERNAL_MCP_SERVERS: "a"', 'the name "a" is there twice'],
    [{ INTERNAL_MCP_SERVERS: "=u" }, 'INTERNAL_MCP_SERVERS: "=u"', "the name is empty"],
    [{ INTERNAL_MCP_SERVERS: "b=" }, 'INTERNAL_MCP_SERVERS: "b="', "the URL is empty"],
    [{ REST_PROXY_URLS: "x" }, 'REST_PROXY_URLS: "x"', 'it has no "="'],
    [{ REST_PROXY_URLS: "x=ftp://y" }, 'REST_PROXY_URLS: "x=ftp://y"', '"ftp://y" is no http or https URL'],
    [{ WEBSITE_URLS: "x=y" }, 'WEBSITE_URLS: "x=y"', '"y" is no http or https URL'],
    [{ GATEWAY_MODE: "fast" }, 'GATEWAY_MODE: "fast"', "it is neither performance nor consistent"],
    [{ GATEWAY_RECORD: "{" }, 'GATEWAY_RECORD: "the whole"', "it is not JSON"],
    [
      { GATEWAY_RECORD: '{"name":"x","auth":{"mode":"open"},"servers":[{"name":"a","kind":"mcp","url":"ftp://x"}]}' },
      'GATEWAY_RECORD: "servers.0.url"',
      "Invalid URL",
    ],
    [{ GATEWAY_UPSTREAM_WAIT_S: "soon" }, 'GATEWAY_UPSTREAM_WAIT_S: "soon"', "it is not a positive number"],
    [{ MCP_PORT: "http" }, 'MCP_PORT: "http"', "it is no port"],
    [{}, 'MCP_HOST: "0.0.0.0"', "callers of this deployment need no token, and whoever reaches this machine could be one"],
    [
      { GATEWAY_RECORD: '{"name":"x","auth":{"mode":"open"},"servers":[]}', MCP_HOST: "::" },
      'MCP_HOST: "::"',
      "callers of this deployment need no token, and whoever reaches this machine could be one",
    ],
  ];
  test.each(refused)("V16 %j ends the process, naming variable and entry", async (env, what, why) => {
    const gateway = await runNodeHost(env);
    expect([await gateway.exited, gateway.output()]).toEqual([
      expect.toSatisfy((code) => code === 1 || code === 2),
      expect.stringContaining(`${what}\n  ${why}\n`),
    ]);
  });

  test("V16 V17 the original's variables make a deployment: blank entries are skipped, and `mcp-foo` without a server foo is a site", async () => {
    const items = kept(await mcpFixture({ name: "items", card: card("items"), tools: [[{ name: "items_add" }, () => text("")]] }));
    const site = kept(
      await mcpFixture({
        name: "mcp-foo",
        card: card("mcp-foo", MCP_CARD),
        tools: [[{ name: "foo_do" }, () => text("")]],
      }),
    );
    const gateway = await runNodeHost({
      INTERNAL_MCP_SERVERS: ` , items=${items.url}/mcp ,`,
      REST_PROXY_URLS: `mcp-items=${items.url},mcp-foo=${site.url}`,
      WEBSITE_URLS: `mcp-foo=${site.url}`,
      MCP_SERVER_NAME: "demo",
      MCP_HOST: "127.0.0.1",
      MCP_PORT: "0",
    });
    clean.push(async () => gateway.child.kill("SIGKILL"));
    const base = `http://127.0.0.1:${await listeningPort(gateway)}`;
    await until("the gateway is ready", 5_000, async () => (await fetch(`${base}/health`)).ok);
    const composed = (await (await fetch(`${base}/.well-known/agent-env.json`)).json()) as {
      name: string;
      children_environments: { name: string; url: string }[];
    };
    expect([composed.name, composed.children_environments.map(({ name, url }) => [name, url])]).toEqual([
      "demo",
      [
        ["items", "/svc/mcp-items/agentenv"],
        ["mcp-foo", "/svc/mcp-foo/agentenv"],
      ],
    ]);
    const state = (await (await fetch(`${base}/state`)).json()) as { mcp_servers: { name: string }[] };
    expect(state.mcp_servers.map(({ name }) => name)).toEqual(["gateway", "items", "mcp-foo"]);
  });
});
