import type http from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type ItemsAndShop, startItemsAndShop } from "../../fixtures/gateway/items-and-shop.ts";
import { type McpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { card, type Recorder } from "../../fixtures/gateway/recorder.ts";
import { until } from "../../fixtures/until.ts";

const BROKEN = "the body was cut off, or isn't framed as its headers say";
const STEP = '{"action":"list_tools"}';
const FRAMINGS = [
  ["that ends too early", `content-length: 1000\r\n\r\n${STEP}`],
  ["with a bad chunk", `transfer-encoding: chunked\r\n\r\n${STEP.length.toString(16)}\r\n${STEP}\r\nZZ\r\n`],
] as const;
const PATHS = ["/svc/shop/a", "/website/shop/a", "/step", "/tools/disable", "/triggers/register", "/mcp", "/svc/mcp-items/mcp"];

afterAll(endHosts);

describe.each(HOSTS)("a client's body, on the $host host", ({ host, start }) => {
  let gateway: RunningGateway;
  let shop: Recorder;
  let items: McpFixture;
  let stop: ItemsAndShop["stop"];
  let early = (_request: http.IncomingMessage, _response: http.ServerResponse): boolean => false;
  beforeAll(async () => {
    ({ gateway, items, shop, stop } = await startItemsAndShop(start, {
      items: { tools: [[{ name: "items_note" }, () => text("noted")]] },
      shop: {
        card: () => ({ status: 200, body: card("shop") }),
        early: (request, response) => early(request, response),
      },
    }));
  });
  afterAll(() => stop());
  /** Status and body of the answer to a request that ends with its last byte, and the connection with it. */
  const answerTo = async (path: string, rest: string) => {
    const socket = connect({ port: gateway.port, host: "127.0.0.1", allowHalfOpen: true });
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("end", () => socket.end());
    socket.end(`POST ${gateway.prefix}${path} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\ncontent-type: application/json\r\n${rest}`);
    await until("the connection is closed", 10_000, () => socket.closed);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    return [Number(head.split(" ")[1]), body];
  };

  describe.each(FRAMINGS)("%s", (_name, rest) => {
    test.each(PATHS)("is the client's fault, and no server's, at %s", async (path) => {
      const before = shop.received.length;
      expect(await answerTo(path, rest)).toEqual([400, JSON.stringify({ error: BROKEN })]);
      // what the server has of it was cut as well
      expect(shop.received.slice(before).map(({ body }) => body.toString())).toEqual(shop.received.slice(before).map(() => "(aborted)"));
    });
  });

  test("that breaks in its chunks is not complete for a watched site either", async () => {
    const when = { type: "website", app: "shop", repeat: true };
    await post(gateway, "/triggers/register", { triggers: [{ id: "w", when, actions: [{ type: "tool", tool: "items_note" }] }] });
    // a Worker's copy of the routing view is at most a second old
    await until("the site is watched", 5_000, async () => {
      await raw(gateway, "/website/shop/a");
      return items.received.some(({ body }) => body.includes("items_note"));
    });
    const before = shop.received.length;
    expect((await answerTo("/website/shop/a", FRAMINGS[1][1]))[0]).toBe(400);
    expect(shop.received.slice(before).filter(({ body }) => body.toString() !== "(aborted)")).toEqual([]);
  });

  test.each(["/svc/shop/a", "/website/shop/a"])("is passed on whole, by length and in chunks (%s)", async (path) => {
    const body = Buffer.alloc(300_000, "0123456789");
    for (const [name, value] of [
      ["content-length", String(body.length)],
      ["transfer-encoding", "chunked"],
    ] as const) {
      expect((await raw(gateway, path, { method: "POST", headers: { [name]: value }, body })).status).toBe(200);
      const got = shop.received.at(-1);
      expect(got?.body.equals(body)).toBe(true);
      expect(got?.headers.find(([field]) => field === name)?.[1]).toBe(value);
    }
  });

  test("that the server cuts off is the server's fault", async () => {
    early = (request) => {
      request.once("data", () => request.socket.destroy());
      return true;
    };
    const answer = await raw(gateway, "/svc/shop/cut", { method: "POST", body: Buffer.alloc(1_000_000) });
    early = () => false;
    expect([answer.status, answer.text]).toEqual([502, expect.stringContaining("Proxy request failed: shop: connection ")]);
  });

  describe.each(["/svc/shop/a", "/website/shop/a"])("with a GET or HEAD to %s", (path) => {
    test.each(["GET", "HEAD"])("%s", async (method) => {
      const before = shop.received.length;
      const answer = await raw(gateway, path, { method, headers: { "content-length": "3" }, body: "abc" });
      const got = shop.received.slice(before).map((request) => [request.method, request.body.toString()]);
      const refusal = { error: `this gateway can't pass on a ${method} with a body: leave the body out, or send it by POST` };
      if (host === "node") expect([answer.status, got]).toEqual([200, [[method, "abc"]]]);
      else expect([answer.status, answer.text, got]).toEqual([501, method === "HEAD" ? "" : JSON.stringify(refusal), []]);
    });
  });
});
