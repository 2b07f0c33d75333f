import { isJsonObject } from "@agent-env/protocol";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { messagesIn, openedSession, post, postModern, said } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway, type StartOptions } from "../../fixtures/gateway/hosts.ts";
import { text } from "../../fixtures/gateway/mcp-server.ts";
import { type ModernFixture, modernFixture } from "../../fixtures/gateway/modern-server.ts";
import { type TaskServer, taskServer } from "../../fixtures/gateway/task-server.ts";

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
afterAll(endHosts);

const EXTENSIONS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const NOT_DECLARED = {
  code: -32021,
  message: "the client has not declared the extension io.modelcontextprotocol/tasks",
  data: { requiredCapabilities: EXTENSIONS },
};
const mcp = (name: string, { url }: { url: string }) => ({ name, kind: "mcp" as const, url });

/** A modern server whose tool becomes a task where its caller takes one. It says what it was asked for, by `Mcp-Name`. */
async function modernTasks(name: string): Promise<ModernFixture> {
  const task = { createdAt: "2026-11-30T00:00:00Z", lastUpdatedAt: "2026-11-30T00:00:00Z", ttlMs: 60_000 };
  const told = (status: string) => (call: { params: Record<string, unknown>; headers: object }) => ({
    ...task,
    taskId: call.params["taskId"],
    status,
    statusMessage: `${name} ${Object.entries(call.headers).find(([header]) => header === "mcp-name")?.[1]}`,
  });
  const made = await modernFixture({
    capabilities: { tools: {}, ...EXTENSIONS },
    tools: [
      [
        { name: `${name}_work` },
        ({ params }) => {
          const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
          const takesTasks = JSON.stringify(meta[CAPABILITIES]).includes("io.modelcontextprotocol/tasks");
          return takesTasks ? { ...task, resultType: "task", taskId: "1", status: "working" } : text("at once");
        },
      ],
    ],
    more: { "tasks/get": told("working"), "tasks/update": () => ({}), "tasks/cancel": () => ({}) },
  });
  clean.push(() => made.close());
  return made;
}

describe.each(HOSTS)("tasks of 2026-07-28 on the $host host", ({ start }) => {
  const started = async (options: StartOptions): Promise<RunningGateway> => {
    const gateway = await start(options);
    clean.push(() => gateway.stop());
    return gateway;
  };
  /** A request of a client that takes tasks, and the outcome: HTTP status, and result or error. */
  const ask = async (
    gateway: RunningGateway,
    message: { method: string; params?: Record<string, unknown> },
    { role, capabilities = EXTENSIONS }: { role?: string; capabilities?: object } = {},
  ): Promise<[number, Record<string, unknown>]> => {
    const taskId = message.params?.["taskId"];
    const headers = {
      ...(typeof taskId === "string" ? { "mcp-name": taskId } : {}),
      ...(role === undefined ? {} : { "AgentEnv-Role": role }),
    };
    const params = { ...message.params, _meta: { [CAPABILITIES]: capabilities } };
    const answer = await postModern(gateway, { ...message, params }, headers);
    const [reply = {}] = messagesIn(answer);
    const outcome = reply["result"] ?? reply["error"];
    return [answer.status, isJsonObject(outcome) ? outcome : {}];
  };
  const work = (name: string) => ({ method: "tools/call", params: { name: `${name}_work`, arguments: {} } });
  const about = (method: string, taskId: string, more: object = {}) => ({ method: `tasks/${method}`, params: { taskId, ...more } });

  test("G2 a task is asked for at the server that issued it, under the server's own id in Mcp-Name", async () => {
    const [items, stock] = [await modernTasks("items"), await modernTasks("stock")];
    const gateway = await started({ record: { servers: [mcp("items", items), mcp("stock", stock)] } });
    expect(await ask(gateway, work("stock"))).toMatchObject([200, { resultType: "task", taskId: "1", status: "working" }]);
    expect(await ask(gateway, work("items"))).toMatchObject([200, { resultType: "task", taskId: "items__1" }]);
    expect(await ask(gateway, about("get", "1"))).toMatchObject([
      200,
      { resultType: "complete", taskId: "1", status: "working", statusMessage: "stock 1" },
    ]);
    expect(await ask(gateway, about("get", "items__1"))).toMatchObject([200, { taskId: "items__1", statusMessage: "items 1" }]);
    expect(await ask(gateway, about("update", "items__1", { inputResponses: { a: {} } }))).toEqual([200, { resultType: "complete" }]);
    expect(await ask(gateway, about("cancel", "items__1"))).toEqual([200, { resultType: "complete" }]);
    const bodies = items.received.map(({ body }) => body.toString()).filter((body) => /"tasks\/(update|cancel)"/.test(body));
    expect(bodies.map((body) => JSON.parse(body).params)).toMatchObject([{ taskId: "1", inputResponses: { a: {} } }, { taskId: "1" }]);
  });

  test("F14 a task of another caller is as unknown as one that nobody has issued", async () => {
    const gateway = await started({ record: { servers: [mcp("items", await modernTasks("items"))] } });
    await ask(gateway, work("items"));
    const unknown = (id: string) => [200, { code: -32602, message: `Task not found: ${id}` }];
    for (const method of ["get", "update", "cancel"]) {
      expect(await ask(gateway, about(method, "1"), { role: "other" })).toEqual(unknown("1"));
      expect(await ask(gateway, about(method, "none"))).toEqual(unknown("none"));
    }
    expect(await ask(gateway, about("get", "1"))).toMatchObject([200, { taskId: "1" }]);
  });

  test("G2 a client that takes no tasks gets none, and may ask for none", async () => {
    const gateway = await started({ record: { servers: [mcp("items", await modernTasks("items"))] } });
    await ask(gateway, work("items"));
    const [status, result] = await ask(gateway, work("items"), { capabilities: {} });
    expect([status, said(result)]).toEqual([200, "at once"]);
    for (const method of ["get", "update", "cancel"])
      expect(await ask(gateway, about(method, "1"), { capabilities: {} })).toEqual([400, NOT_DECLARED]);
    expect(await ask(gateway, { method: "tasks/list" })).toMatchObject([404, { code: -32601 }]);
    expect(await ask(gateway, about("result", "1"))).toMatchObject([404, { code: -32601 }]);
  });

  test("G2 the extension is declared to modern clients alone, and a legacy client is never answered with such a task", async () => {
    const gateway = await started({ record: { servers: [mcp("items", await modernTasks("items"))] } });
    const [, discovered] = await ask(gateway, { method: "server/discover" });
    expect(discovered["capabilities"]).toEqual({ tools: { listChanged: true }, ...EXTENSIONS });
    const params = { protocolVersion: "2025-11-25", capabilities: EXTENSIONS, clientInfo: { name: "t", version: "1" } };
    const [opened] = messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params }));
    expect(opened).toMatchObject({ result: { capabilities: { tools: { listChanged: true } } } });
    expect(JSON.stringify(opened)).not.toContain("tasks");
    const session = await openedSession(gateway, { capabilities: EXTENSIONS });
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...work("items").params, task: {} } };
    const [answer] = messagesIn(await post(gateway, "/mcp", call, session));
    expect(said(answer?.["result"])).toBe("at once");
  });

  test("G2 what a legacy server has of tasks is not declared to modern clients, whose calls ask for none", async () => {
    const items: TaskServer = await taskServer({ name: "items" });
    clean.push(() => items.close());
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const [, discovered] = await ask(gateway, { method: "server/discover" });
    expect(discovered["capabilities"]).toEqual({ tools: { listChanged: true } });
    expect(await ask(gateway, about("get", "1"))).toMatchObject([404, { code: -32601 }]);
    const [, refused] = await ask(gateway, { method: "tools/call", params: { name: "items_work", arguments: {}, task: {} } });
    expect(said(refused)).toBe("MCP error -32601: Tool items_work requires task augmentation (taskSupport: 'required')");
  });

  test("G8 a restart of the gateway loses no task", async () => {
    const gateway = await started({ restarts: true, record: { servers: [mcp("items", await modernTasks("items"))] } });
    await ask(gateway, work("items"));
    await gateway.restart();
    expect(await ask(gateway, about("get", "1"))).toMatchObject([200, { taskId: "1", statusMessage: "items 1" }]);
  });
});
