import { afterAll, describe, expect, test } from "vitest";
import { messagesIn, postModern, said } from "../../fixtures/gateway/client.ts";
import { type ConformanceFixture, conformanceFixture } from "../../fixtures/gateway/conformance/server.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { mcpFixture, RpcError, text } from "../../fixtures/gateway/mcp-server.ts";
import { until } from "../../fixtures/until.ts";

const CAN = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } };
const NAME = "test_input_required_result_elicitation";
const GIVEN = { user_name: { action: "accept", content: { name: "Ann" } } };

type Required = { resultType: string; inputRequests: Record<string, { method: string; params: unknown }>; requestState: string };
type Answer = { result?: Required & { isError?: boolean; _meta?: unknown }; error?: { code: number; message: string } };

afterAll(endHosts);

describe.each(HOSTS)("a held call's requestState on the $host host", ({ start }) => {
  const serving = async (use: (gateway: RunningGateway, fixture: ConformanceFixture) => Promise<void>, more: object = {}) => {
    const fixture = await conformanceFixture({ only: "legacy" });
    const gateway = await start({ record: { servers: [{ name: "fixture", kind: "mcp", url: fixture.url }] }, ...more });
    try {
      await use(gateway, fixture);
    } finally {
      await gateway.stop();
      await fixture.close();
    }
  };
  const call = async (
    gateway: RunningGateway,
    params: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const whole = { name: NAME, arguments: {}, ...params, _meta: CAN };
    // a call that takes longer than a second is answered as a stream
    return messagesIn(await postModern(gateway, { method: "tools/call", params: whole }, headers)).at(-1) as Answer;
  };
  /** The answers under the keys that were asked for. */
  const answered = ({ result }: Answer) => {
    const [key = ""] = Object.keys(result?.inputRequests ?? {});
    return { inputResponses: { [key]: GIVEN.user_name }, requestState: result?.requestState };
  };
  const unknown = { code: -32602, message: "unknown requestState" };

  test("F53 one that was changed, was made for other arguments, was used, or is another caller's is refused", async () => {
    await serving(async (gateway) => {
      const first = await call(gateway);
      expect(first.result?.resultType).toBe("input_required");
      const retry = answered(first);
      const state = String(retry.requestState);
      const changed = `${state.slice(0, -2)}${state.at(-2) === "A" ? "B" : "A"}${state.slice(-1)}`;
      expect((await call(gateway, { ...retry, requestState: changed })).error).toEqual(unknown);
      expect((await call(gateway, { ...retry, requestState: "anything" })).error).toEqual(unknown);
      expect((await call(gateway, { ...retry, arguments: { other: 1 } })).error).toEqual(unknown);
      expect((await call(gateway, retry, { "AgentEnv-Role": "mallory" })).error).toEqual(unknown);
      expect(said((await call(gateway, retry)).result)).toBe("Hello, Ann!");
      expect((await call(gateway, retry)).error).toEqual(unknown);
    });
  });

  test("N6 with answers missing the same is asked again", async () => {
    await serving(async (gateway) => {
      const first = await call(gateway);
      const again = await call(gateway, { inputResponses: { other: {} }, requestState: first.result?.requestState });
      expect(again.result?.inputRequests).toEqual(first.result?.inputRequests);
      expect(said((await call(gateway, answered(again))).result)).toBe("Hello, Ann!");
    });
  });

  test("F53 after its time it is refused, and the server's question was answered for the client", async () => {
    await serving(
      async (gateway) => {
        const first = await call(gateway);
        await until("the state has expired", 10_000, async () => (await call(gateway, answered(first))).error?.code === -32602);
      },
      { settings: { GATEWAY_INPUT_WAIT_S: "1" } },
    );
  });

  test("N6 after a restart of the gateway nothing is run again: the outcome is unknown", async () => {
    await serving(
      async (gateway) => {
        const first = await call(gateway);
        await gateway.restart();
        const { result } = await call(gateway, answered(first));
        expect([result?.isError, result?._meta]).toEqual([
          true,
          { "agentenv.io/error": { reason: "outcome_unknown", server: "fixture", delivered: null } },
        ]);
      },
      { restarts: true },
    );
  });

  test("N6 a legacy server's demand to open an address is a question; the retry calls again", async () => {
    const url = { mode: "url", url: "https://pay.example/1", message: "Pay first", elicitationId: "e1" };
    let calls = 0;
    const shop = await mcpFixture({
      name: "shop",
      tools: [[{ name: NAME }, () => (++calls === 1 ? new RpcError(-32042, "pay", { elicitations: [url] }) : text("bought"))]],
    });
    const gateway = await start({ record: { servers: [{ name: "shop", kind: "mcp", url: shop.url }] } });
    try {
      const first = await call(gateway);
      expect(first.result?.inputRequests).toEqual({
        url1: { method: "elicitation/create", params: { mode: "url", url: "https://pay.example/1", message: "Pay first" } },
      });
      expect(said((await call(gateway, answered(first))).result)).toBe("bought");
      expect(calls).toBe(2);
    } finally {
      await gateway.stop();
      await shop.close();
    }
  });

  test("N6 a client that declared nothing is never asked", async () => {
    await serving(async (gateway) => {
      const answer = await postModern(gateway, { method: "tools/call", params: { name: NAME, arguments: {} } });
      expect((answer.json() as Answer).result?.resultType).not.toBe("input_required");
    });
  });
});
