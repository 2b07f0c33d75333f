import { afterAll, afterEach, describe, expect, test } from "vitest";
import { messagesIn, openedSession, post, type RawAnswer, raw, streamFrom } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const SMALL = {
  GATEWAY_MAX_URL_BYTES: "200",
  GATEWAY_MAX_HEADER_BYTES: "2000",
  GATEWAY_MAX_HOPS: "2",
  GATEWAY_MAX_MESSAGE_BYTES: "3000",
  GATEWAY_MAX_CALLS: "1",
  GATEWAY_MAX_WAITING_CALLS: "1",
  GATEWAY_MAX_SESSION_STREAMS: "1",
  GATEWAY_MAX_STREAMS: "2",
  GATEWAY_MAX_SESSIONS: "3",
  GATEWAY_TOOL_CALL_TIMEOUT_S: "1",
  GATEWAY_PROXY_IDLE_S: "1",
};
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
afterAll(endHosts);

const call = (name: string, id = 1) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } });

describe.each(HOSTS)("G9 a limit that was set, on the $host host", ({ start }) => {
  const started = async (
    settings: Record<string, string>,
  ): Promise<{ gateway: RunningGateway; items: McpFixture; release: () => void }> => {
    const held = Promise.withResolvers<void>();
    const wait = async () => {
      await held.promise;
      return text("done");
    };
    const items = await mcpFixture({
      name: "items",
      tools: [
        [{ name: "wait" }, wait],
        [{ name: "long" }, () => text("y".repeat(4_000))],
      ],
      intercept: (request) => request.url === "/silent",
    });
    clean.push(() => items.close());
    const gateway = await start({ record: { servers: [{ name: "items", kind: "mcp", url: items.url }] }, settings });
    clean.push(() => gateway.stop());
    return { gateway, items, release: held.resolve };
  };

  test("ends what is larger or went further: 414, 431, 508, 413", async () => {
    const { gateway } = await started(SMALL);
    const padding = (length: number) => ({ ...call("x"), params: { name: "x", arguments: { pad: "y".repeat(length) } } });
    expect([
      said(await raw(gateway, `/state?${"q".repeat(200)}`)),
      said(await raw(gateway, "/state", { headers: { "x-long": "h".repeat(2_000) } })),
      said(await raw(gateway, "/state", { headers: { "agentenv-hops": "2" } })),
      said(await post(gateway, "/svc/mcp-items/mcp", padding(3_000))),
    ]).toEqual([
      [414, { error: "the URL is longer than 200 bytes" }],
      [431, { error: "the headers are larger than 2000 bytes" }],
      [508, { error: "the request went through 2 gateways already" }],
      [413, { error: "the message is larger than 3000 bytes" }],
    ]);
    const mcp = await post(gateway, "/mcp", padding(3_000));
    expect(said(mcp)).toEqual([
      413,
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "the message is larger than 3000 bytes" } },
    ]);
    const [tooLong] = messagesIn(await post(gateway, "/mcp", call("long")));
    expect(JSON.stringify(tooLong)).toContain("items: its answer is larger than 3000 bytes");
  });

  test("lets one call run and one wait, and tells the next that the server is busy", async () => {
    const { gateway, items, release } = await started({ ...SMALL, GATEWAY_TOOL_CALL_TIMEOUT_S: "30", GATEWAY_MAX_STREAMS: "9" });
    const headers = { accept: "application/json" };
    const first = post(gateway, "/mcp", call("wait"), headers);
    await until("the first call runs", 10_000, () => items.calls === 1);
    const others = Array.from({ length: 2 }, () => post(gateway, "/mcp", call("wait"), headers));
    const refused = await Promise.race(others);
    expect(JSON.stringify(refused.json())).toContain('"text":"items: too many calls are waiting for it"');
    expect(items.calls).toBe(1);
    release();
    const texts = (await Promise.all([first, ...others])).map((answer) => JSON.stringify(answer.json()).includes('"done"'));
    expect(texts.filter((isDone) => isDone).length).toBe(2);
  });

  test("opens no more streams of a session, and of the deployment, than it says", async () => {
    const { gateway } = await started(SMALL);
    const sessions = await Promise.all([openedSession(gateway), openedSession(gateway), openedSession(gateway)]);
    const streams = sessions.slice(0, 2).map((headers) => streamFrom(gateway, { headers }));
    clean.push(() => streams.map((stream) => stream.close()));
    await until("both are open", 10_000, () => streams.every((stream) => stream.text() !== ""));
    const third = await raw(gateway, "/mcp", { headers: { ...sessions[2], accept: "text/event-stream" } });
    const second = await post(gateway, "/mcp", call("wait"), sessions[0]);
    expect([third.status, second.status]).toEqual([429, 429]);
  });

  test("ends the longest idle session beyond so many", async () => {
    const { gateway } = await started(SMALL);
    const first = await openedSession(gateway);
    for (let n = 0; n < 3; n++) await openedSession(gateway);
    expect((await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, first)).status).toBe(404);
  });

  test("ends what is silent for too long: a call, and a request to a server's raw API", async () => {
    const { gateway } = await started(SMALL);
    const [late] = messagesIn(await post(gateway, "/mcp", call("wait")));
    expect(JSON.stringify(late)).toContain("timeout");
    const silent = await raw(gateway, "/svc/mcp-items/silent");
    expect([silent.status, silent.text]).toEqual([502, expect.stringMatching(/^\{"error":"Proxy request failed: mcp-items: [^"]* 1s"\}$/)]);
  });
});

function said(answer: RawAnswer): [number, unknown] {
  return [answer.status, answer.json()];
}
