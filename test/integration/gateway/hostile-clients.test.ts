import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JSON_HEADERS, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type ItemsAndShop, startItemsAndShop } from "../../fixtures/gateway/items-and-shop.ts";
import { mcpFixture } from "../../fixtures/gateway/mcp-server.ts";
import { listeningPort, runNodeHost } from "../../fixtures/gateway/node-host.ts";
import { card, type Recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const INNER = "GET /mcp HTTP/1.1\r\nhost: x\r\nagentenv-role: admin\r\n\r\n";
const BOTH_PATHS = ["/website/shop/", "/svc/shop/"];

afterAll(endHosts);

describe.each(HOSTS)("what hostile clients send, on the $host host", ({ host, start }) => {
  let gateway: RunningGateway;
  let shop: Recorder;
  let stop: ItemsAndShop["stop"];
  const closed: string[] = [];
  beforeAll(async () => {
    ({ gateway, shop, stop } = await startItemsAndShop(start, {
      items: { tools: [] },
      shop: {
        card: () => ({ status: 200, body: card("shop", { additionalInterfaces: [{ url: "mcp", transport: "other" }] }) }),
        upgrade: (request, socket) => {
          socket.on("error", () => undefined);
          socket.on("close", () => closed.push(request.url ?? ""));
          socket.on("end", () => socket.end());
          socket.on("data", () => undefined);
          if (!request.url?.includes("pending")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno");
        },
      },
    }));
  });
  afterAll(() => stop());
  const ownHost = () => `127.0.0.1:${gateway.port}`;
  const sending = (head: string) => {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(head);
    return socket;
  };

  describe.each(BOTH_PATHS)("an upgrade on %s", (path) => {
    test.each([
      ["Content-Length", { "content-length": String(INNER.length) }],
      ["Transfer-Encoding", { "transfer-encoding": "chunked" }],
    ])("with a body by %s is 400 and reaches nothing", async (_name, framing) => {
      const before = shop.received.length;
      const answer = await raw(gateway, `${path}a`, { headers: { ...UPGRADE, ...framing }, body: INNER });
      expect([answer.status, answer.json()]).toEqual([400, { error: "a request to upgrade may have no body" }]);
      expect(shop.received.slice(before)).toEqual([]);
    });

    // workerd chooses by itself what it does with a connection whose upgrade was refused
    if (host === "node")
      test("that is refused leaves no connection for the next request", async () => {
        expect((await raw(gateway, `${path}refused-${path.slice(1, 4)}`, { headers: UPGRADE })).text).toBe("no");
        await until("the server's side is closed", 1_000, () => closed.includes(`/refused-${path.slice(1, 4)}`));
      });

    test.each(["POST", "PUT", "DELETE"])("by %s is a plain request, with its method and body", async (method) => {
      await raw(gateway, `${path}plain`, { method, headers: { ...UPGRADE, "content-length": "4" }, body: "text" });
      const got = shop.received.at(-1);
      expect([got?.method, got?.target, got?.body.toString()]).toEqual([method, "/plain", "text"]);
      expect(got?.headers.filter(([name]) => name === "upgrade")).toEqual([]);
    });

    test("that is not taken leaves no connection that waits for ever, whatever follows", async () => {
      const lines = Object.entries({ host: ownHost(), ...UPGRADE }).map(([name, value]) => `${name}: ${value}\r\n`);
      const head = `DELETE ${gateway.prefix}${path}a HTTP/1.1\r\n${lines.join("")}\r\n`;
      const socket = sending(`${head}GET /\tb HTTP/1.1\r\nhost: x\r\n\r\n`);
      let answers = "";
      socket.on("data", (chunk) => {
        answers += chunk;
      });
      await until("the connection is closed", 10_000, () => socket.closed);
      expect(answers).toMatch(/^HTTP\/1\.1 200 /);
    });

    // workerd doesn't notice the end of a connection whose answer hasn't begun, only its reset
    test.each(host === "node" ? (["end", "resetAndDestroy"] as const) : (["resetAndDestroy"] as const))(
      "closes the server's side within a second when its client leaves (%s)",
      async (leave) => {
        const target = `/pending-${path.slice(1, 4)}-${leave}`;
        const lines = Object.entries(UPGRADE).map(([name, value]) => `${name}: ${value}\r\n`);
        const socket = sending(`GET ${gateway.prefix}${path}${target.slice(1)} HTTP/1.1\r\nhost: ${ownHost()}\r\n${lines.join("")}\r\n`);
        await until("the server has the request", 5_000, () => shop.received.some((request) => request.target === target));
        socket[leave]();
        await until("the server's side is closed", 1_000, () => closed.includes(target));
      },
    );
  });

  test("two Host lines are 400", async () => {
    const headers = ["host", ownHost(), "host", "evil.example", "connection", "close"];
    expect((await raw(gateway, "/website/shop/a", { headers })).status).toBe(400);
  });

  test.each([
    ["9, 9", 508],
    ["1, 9", 508],
    ["x", 200],
    ["1, 2", 200],
  ])("AgentEnv-Hops: %s is %i", async (hops, status) => {
    expect((await raw(gateway, "/website/shop/a", { headers: { "agentenv-hops": hops } })).status).toBe(status);
  });

  test.concurrent.each(["/mcp", "/svc/mcp-items/mcp"])(
    "a body on %s of which nothing comes for 30 s is 408",
    { timeout: 50_000 },
    async (path) => {
      const fields = Object.entries({ host: ownHost(), ...JSON_HEADERS, "content-length": "100" });
      const socket = sending(
        `POST ${gateway.prefix}${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n{`,
      );
      let answer = "";
      let isClosed = false;
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("close", () => {
        isClosed = true;
      });
      await until("it is answered and closed", 40_000, () => answer !== "" && (isClosed || host === "worker"));
      expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"nothing of the body came for 30s"/);
      socket.destroy();
    },
  );
});

test("a client that leaves in its body is no bug in the log", async () => {
  const items = await mcpFixture({ name: "items", tools: [] });
  const record = {
    deployment_id: "left",
    revision: 1,
    name: "demo",
    auth: { mode: "open" },
    servers: [{ name: "items", kind: "mcp", url: items.url }],
  };
  const gateway = await runNodeHost({ GATEWAY_RECORD: JSON.stringify(record), MCP_HOST: "127.0.0.1", MCP_PORT: "0" });
  const port = await listeningPort(gateway);
  await until("the gateway is ready", 10_000, () => gateway.output().includes("ready"));
  const fields = Object.entries({ host: `127.0.0.1:${port}`, ...JSON_HEADERS, "content-length": "100" });
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST /mcp HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}expect: 100-continue\r\n\r\n`);
  // it says so when it begins to read
  await new Promise((resolve) => socket.once("data", resolve));
  socket.write("{");
  socket.destroy();
  // what the log would say of it comes before the next answer
  for (let request = 0; request < 3; request++) await fetch(`http://127.0.0.1:${port}/health`);
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  await items.close();
  expect(gateway.output()).toBe(`gateway demo: listening on port ${port}\ngateway demo: ready\n`);
});
