import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { connected, post, served } from "../../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "../card.ts";
import { McpEnvironment } from "../mcp-environment.ts";

const items = () => new McpEnvironment(environmentCard({ name: "items" })).tool("add", { description: "Adds.", run: () => "added" });

const ACCEPT = { Accept: "application/json, text/event-stream" };
const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** The status of an `initialize` with these header fields: `fetch` can't set a `Host`. */
async function statusOf(url: string, fields: Record<string, string>): Promise<number | undefined> {
  const headers = { "Content-Type": "application/json", ...ACCEPT, ...fields };
  const sent = request(url, { method: "POST", headers }).end(JSON.stringify(initialize));
  const [answer] = await once(sent, "response");
  answer.resume();
  return answer.statusCode;
}

/** Opens a session, as a client does. */
async function opened(url: string): Promise<{ id: string; answer: Response }> {
  const answer = await post(`${url}/mcp`, initialize, ACCEPT);
  const id = answer.headers.get("mcp-session-id") ?? "";
  return { id, answer };
}

describe("what MCP clients meet", () => {
  test("initialize opens a session of 32 hex digits, as a stream", async () => {
    const { id, answer } = await opened(await served(items()));
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const data = (await answer.text()).split("\n").find((line) => line.startsWith("data: "));
    expect(JSON.parse(data?.slice(6) ?? "")).toMatchObject({
      id: 0,
      result: {
        protocolVersion: "2025-11-25",
        serverInfo: { name: "items", version: "1.0" },
        capabilities: { tools: { listChanged: true } },
      },
    });
  });

  test.each([
    [
      "a notification is 202",
      202,
      (url: string, id: string) => post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, { ...ACCEPT, "Mcp-Session-Id": id }),
    ],
    ["an unknown session is 404", 404, (url: string) => post(url, list, { ...ACCEPT, "Mcp-Session-Id": "0".repeat(32) })],
    ["a request without a session is 400", 400, (url: string) => post(url, list, ACCEPT)],
    ["without both types in Accept it is 406", 406, (url: string) => post(url, initialize, { Accept: "application/json" })],
    ["a GET without a session is 400", 400, (url: string) => fetch(url, { headers: ACCEPT })],
    ["a plain GET is 406", 406, (url: string) => fetch(url)],
    ["a trailing slash is the same", 200, (url: string) => post(`${url}/`, initialize, ACCEPT)],
    ["broken JSON is 400", 400, (url: string) => post(url, "{", ACCEPT)],
  ])("%s", async (_name, status, ask) => {
    const url = await served(items());
    const { id } = await opened(url);
    expect((await ask(`${url}/mcp`, id)).status).toBe(status);
  });

  test.each([
    ["Host", "evil.example"],
    ["Origin", "https://evil.example"],
  ])(
    "a foreign %s is 403 where only this machine is listened to, and served elsewhere: gateways come by names of their own",
    async (field, value) => {
      const env = items();
      const local = await served(env);
      expect(await statusOf(`${local}/mcp`, { [field]: value })).toBe(403);
      expect(await statusOf(`${local}/mcp`, { Origin: "http://localhost:5173" })).toBe(200);
      const { port, close } = await items().serve({ host: "0.0.0.0", port: 0 });
      onTestFinished(close);
      expect(await statusOf(`http://127.0.0.1:${port}/mcp`, { [field]: value })).toBe(200);
    },
  );

  test("a closed session is unknown", async () => {
    const url = await served(items());
    const { id } = await opened(url);
    const headers = { ...ACCEPT, "Mcp-Session-Id": id };
    expect((await post(`${url}/mcp`, list, headers)).status).toBe(200);
    expect((await fetch(`${url}/mcp`, { method: "DELETE", headers })).status).toBe(200);
    expect((await post(`${url}/mcp`, list, headers)).status).toBe(404);
  });

  test("an environment without tools serves an empty list", async () => {
    const client = await connected(await served(new McpEnvironment(environmentCard({ name: "empty" }))));
    expect(await client.listTools()).toEqual({ tools: [] });
  });
});

test("calls of thirty clients at once are all answered, each to its own", async () => {
  const env = new McpEnvironment(environmentCard({ name: "who" })).tool("who", {
    description: "Who.",
    run: (_args, { caller }) => String(caller.role),
  });
  const url = await served(env);
  const roles = Array.from({ length: 30 }, (_, n) => `role-${n}`);
  const answers = await Promise.all(
    roles.map(async (role) => (await (await connected(url, { "AgentEnv-Role": role })).callTool({ name: "who" })).content),
  );
  expect(answers).toEqual(roles.map((text) => [{ type: "text", text }]));
});
