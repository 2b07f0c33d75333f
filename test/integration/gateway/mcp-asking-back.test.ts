import { isJsonObject, jsonOf } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { said } from "../../fixtures/gateway/client.ts";
import { type ConformanceFixture, conformanceFixture } from "../../fixtures/gateway/conformance/server.ts";
import { endHosts, HOSTS, type RunningGateway } from "../../fixtures/gateway/hosts.ts";
import { type McpFixture, mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type AskedClient, askableClient, type ClientEra } from "../../fixtures/gateway/sdk-client.ts";
import { until } from "../../fixtures/until.ts";

const ERAS: readonly ClientEra[] = ["legacy", "modern"];
const PAIRS = ERAS.flatMap((server) => ERAS.map((client) => ({ client, server })));

afterAll(endHosts);

describe.each(HOSTS)("being asked back on the $host host", ({ start }) => {
  describe.each(PAIRS)("a $client client of a $server server", ({ client: clientEra, server: serverEra }) => {
    let fixture: ConformanceFixture;
    let gateway: RunningGateway;
    let one: AskedClient;
    beforeAll(async () => {
      fixture = await conformanceFixture({ only: serverEra });
      gateway = await start({ record: { servers: [{ name: "fixture", kind: "mcp", url: fixture.url }] } });
      one = await askableClient(gateway, clientEra);
    });
    afterAll(async () => {
      await one.client.close();
      await gateway.stop();
      await fixture.close();
    });
    const called = async (name: string): Promise<[string, string[]]> => {
      one.asked.length = 0;
      const result = await one.client.callTool({ name, arguments: {} });
      return [said(result), [...one.asked]];
    };

    test("N6 fills in a form", async () => {
      expect(await called("test_input_required_result_elicitation")).toEqual(["Hello, my name!", ["elicitation What is your name?"]]);
    });

    test("N6 completes for the server", async () => {
      const [text, asked] = await called("test_input_required_result_sampling");
      expect([text, asked]).toEqual(['The model says {"type":"text","text":"Paris"}', ["sampling What is the capital of France?"]]);
    });

    test("N6 lists its roots", async () => {
      expect(await called("test_input_required_result_list_roots")).toEqual(['Roots: [{"uri":"file:///work","name":"work"}]', ["roots"]]);
    });

    test("N6 is asked twice in one call", async () => {
      expect(await called("test_input_required_result_multi_round")).toEqual([
        "my name likes my color",
        ["elicitation Step 1: What is your name?", "elicitation Step 2: What is your favorite color?"],
      ]);
    });

    test("N6 is asked three things at once", async () => {
      const [text, asked] = await called("test_input_required_result_multiple_inputs");
      expect([text, [...asked].sort()]).toEqual([
        "All given: user_name, greeting, client_roots",
        ["elicitation What is your name?", "roots", "sampling Generate a greeting"],
      ]);
    });

    test("N6 is asked for a prompt's context", async () => {
      const { messages } = await one.client.getPrompt({ name: "test_input_required_result_prompt" });
      expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Use this context: my context" } }]);
    });
  });

  test.each(ERAS)("N6 a %s client is asked what a legacy server asks on its notification stream while it works for it", async (era) => {
    const server = await mcpFixture({
      name: "roots",
      streams: true,
      tools: [[{ name: "roots" }, ({ session }) => rootsOf(server, session ?? "")]],
    });
    const gateway = await start({ record: { servers: [{ name: "roots", kind: "mcp", url: server.url }] } });
    const { client, asked } = await askableClient(gateway, era);
    const result = await client.callTool({ name: "roots", arguments: {} });
    expect([said(result), asked]).toEqual(['{"roots":[{"uri":"file:///work","name":"work"}]}', ["roots"]]);
    await client.close();
    await gateway.stop();
    await server.close();
  });
});

/** Asks a session for its roots on the stream that it has open, which has nothing to do with a request; waits for the answer. */
async function rootsOf(server: McpFixture, session: string): Promise<object> {
  server.push({ jsonrpc: "2.0", id: "asked", method: "roots/list" }, session);
  const answer = () =>
    server.received.map(({ body }) => jsonOf(body.toString())).find((message) => isJsonObject(message) && message["id"] === "asked");
  await until("the client answers", 10_000, () => answer() !== undefined);
  const answered = answer();
  return text(isJsonObject(answered) ? answered["result"] : null);
}
