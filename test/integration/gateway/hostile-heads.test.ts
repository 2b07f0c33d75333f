import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messagesIn, post, raw } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type ItemsAndShop, startItemsAndShop } from "../../fixtures/gateway/items-and-shop.ts";
import { text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

/** What a server writes in place of an answer, by its path. */
const ANSWERS: Readonly<Record<string, string>> = {
  "/switch": "HTTP/1.1 101 Switching Protocols\r\nupgrade: foo\r\nconnection: Upgrade\r\n\r\nabc",
  "/websocket": "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n",
  "/nameless": "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  "/000": "HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n",
  "/99": "HTTP/1.1 99 X\r\ncontent-length: 0\r\n\r\n",
  "/999": "HTTP/1.1 999 X\r\ncontent-length: 0\r\n\r\n",
  "/ssh": "SSH-2.0-OpenSSH\r\n\r\n",
};

afterAll(endHosts);

describe.each(HOSTS)("what hostile servers answer, on the $host host", ({ start }) => {
  let gateway: RunningGateway;
  let stop: ItemsAndShop["stop"];
  const closed: string[] = [];
  beforeAll(async () => {
    ({ gateway, stop } = await startItemsAndShop(start, {
      items: {
        tools: [[{ name: "items_say" }, () => text("said")]],
        intercept: (request, _response, body) => {
          if (!body.includes("tools/call")) return false;
          request.socket.on("close", () => closed.push("/mcp"));
          request.socket.write(ANSWERS["/switch"] ?? "");
          return true;
        },
      },
      shop: {
        early: (request) => {
          const answer = ANSWERS[request.url ?? ""];
          if (answer === undefined) return false;
          request.socket.on("close", () => closed.push(request.url ?? ""));
          request.socket.write(answer);
          return true;
        },
      },
    }));
  });
  afterAll(() => stop());

  test("a call that is answered with a switch of protocols has failed at once, and the connection is closed", async () => {
    const began = Date.now();
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "items_say", arguments: {} } };
    const answer = messagesIn(await post(gateway, "/mcp", call))[0];
    expect(answer?.["result"]).toMatchObject({ isError: true, _meta: { "agentenv.io/error": { reason: "outcome_unknown" } } });
    expect(Date.now() - began).toBeLessThan(1_000);
    await until("the connection is closed", 1_000, () => closed.includes("/mcp"));
  });

  describe.each(["/website/shop", "/svc/shop"])("%s", (path) => {
    test.each(Object.keys(ANSWERS))("%s is 502 at once, and a connection that was switched is closed", async (target) => {
      const count = closed.length;
      const began = Date.now();
      const answer = await raw(gateway, path + target);
      expect([answer.status, answer.text]).toEqual([502, expect.stringContaining("Proxy request failed: shop: ")]);
      // in words, and in no parser's codes
      expect(answer.text).not.toMatch(/[A-Z]{2,}_[A-Z]/);
      expect(Date.now() - began).toBeLessThan(1_000);
      if (ANSWERS[target]?.includes(" 101 ")) await until("the connection is closed", 1_000, () => closed.length > count);
    });
  });
});
