import { describe, expect, test } from "vitest";
import { clientOf, ERAS, type Era } from "../../test/fixtures/sdk/clients.ts";
import { post, served } from "../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";

const guarded = () =>
  new McpEnvironment(environmentCard({ name: "items" }))
    .tool("add", { description: "Adds.", run: () => "added" })
    .tool("wipe", { description: "Wipes.", hiddenByDefault: true, run: () => "wiped" })
    .toolAccess();

const names = async (url: string, era: Era, role?: string) => {
  const client = await clientOf(url, era, {}, role === undefined ? {} : { "AgentEnv-Role": role });
  return (await client.listTools()).tools.map(({ name }) => name);
};
const rule = async (url: string, op: "disable" | "enable", body: object) => {
  const answer = await post(`${url}/tools/${op}`, body);
  return [answer.status, await answer.json()];
};

describe.each(ERAS)("roles are kept from tools without a gateway, in the %s era", (era) => {
  test("in the list and in calls, by the rules that a gateway has", async () => {
    const url = await served(guarded());
    expect(await names(url, era)).toEqual(["add"]);
    expect(await rule(url, "disable", { role: "alice", tools: "*" })).toEqual([200, { role: "alice", disabled: ["*"], allowed: [] }]);
    expect(await rule(url, "enable", { role: "alice", tools: ["wipe"] })).toEqual([
      200,
      { role: "alice", disabled: ["*"], allowed: ["wipe"] },
    ]);
    expect(await names(url, era, "alice")).toEqual(["wipe"]);
    expect(await names(url, era, "bob")).toEqual(["add"]);
    const client = await clientOf(url, era, {}, { "AgentEnv-Role": "alice" });
    expect(await client.callTool({ name: "wipe" })).toMatchObject({ content: [{ text: "wiped" }] });
    expect(await client.callTool({ name: "add" })).toMatchObject({
      content: [{ type: "text", text: "permission_denied: Tool 'add' is disabled for role 'alice'" }],
      structuredContent: { code: "permission_denied", message: "Tool 'add' is disabled for role 'alice'", retryable: false, applied: "no" },
      isError: true,
    });
  });
});

test("the card lists both operations, and every tool", async () => {
  expect(guarded().card()).toMatchObject({
    capabilities: {
      tools: [{ name: "add" }, { name: "wipe" }],
      extensions: ["disable", "enable"].map((op) => ({
        uri: `urn:agentenv:${op}-tool/v1`,
        params: { endpoint: `/tools/${op}`, methods: { [op]: { method: "POST" } } },
      })),
    },
  });
});

test.each([[{}], [{ role: "", tools: "*" }], [{ role: "alice", tools: "add" }], [{ role: "alice", tools: [1] }], [[]]])(
  "%j is no rule",
  async (body) => {
    expect(await rule(await served(guarded()), "disable", body)).toMatchObject([
      400,
      { ok: false, error: { code: "invalid_params", applied: "no" } },
    ]);
  },
);
