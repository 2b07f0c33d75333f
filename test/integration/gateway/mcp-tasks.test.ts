import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { connected, messagesIn, openedSession, post, raw, said, streamFrom } from "../../fixtures/gateway/client.ts";
import { endHosts, HOSTS, type RunningGateway, type StartOptions } from "../../fixtures/gateway/hosts.ts";
import { mcpFixture, text } from "../../fixtures/gateway/mcp-server.ts";
import { type TaskServer, taskServer } from "../../fixtures/gateway/task-server.ts";
import { until } from "../../fixtures/until.ts";

const clean: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});
afterAll(endHosts);

const mcp = (name: string, { url }: { url: string }) => ({ name, kind: "mcp" as const, url });
const tasksAt = async (...options: Parameters<typeof taskServer>): Promise<TaskServer> => {
  const made = await taskServer(...options);
  clean.push(() => made.close());
  return made;
};
const closedLater = async (client: Promise<Client>): Promise<Client> => {
  clean.push(async () => (await client).close());
  return await client;
};
/** Has a tool called as a task; gives the task's id. */
async function begun(client: Client, name: string, ttl?: number): Promise<string> {
  const params = { name, arguments: {}, task: ttl === undefined ? {} : { ttl } };
  return (await client.request({ method: "tools/call", params }, CreateTaskResultSchema)).task.taskId;
}

describe.each(HOSTS)("tasks of 2025-11-25 on the $host host", ({ start }) => {
  const started = async (options: StartOptions): Promise<RunningGateway> => {
    const gateway = await start(options);
    clean.push(() => gateway.stop());
    return gateway;
  };
  const rpc = async (gateway: RunningGateway, message: object, headers: Record<string, string> = {}) =>
    messagesIn(await post(gateway, "/mcp", { jsonrpc: "2.0", id: 1, ...message }, headers))[0];

  test("G2 G3 each task is asked for at the server that issued it: its state, its result, its end", async () => {
    const [items, stock] = [await tasksAt({ name: "items" }), await tasksAt({ name: "stock" })];
    const gateway = await started({ record: { servers: [mcp("items", items), mcp("stock", stock)] } });
    const client = await closedLater(connected(gateway));
    const { tasks } = client.experimental;
    const [one, two] = [await begun(client, "items_work", 60_000), await begun(client, "stock_work")];
    expect(await tasks.getTask(one)).toMatchObject({ taskId: one, status: "working", ttl: 60_000 });
    const result = tasks.getTaskResult(one, CallToolResultSchema);
    await items.finish(one, "made");
    expect(await result).toMatchObject({
      content: [{ type: "text", text: "made" }],
      _meta: { "io.modelcontextprotocol/related-task": { taskId: one } },
    });
    expect(await tasks.cancelTask(two)).toMatchObject({ taskId: two, status: "cancelled" });
    expect([await tasks.getTask(one), await tasks.getTask(two)]).toMatchObject([{ status: "completed" }, { status: "cancelled" }]);
    expect(items.received.filter((method) => method.startsWith("tasks/"))).toEqual(["tasks/get", "tasks/result", "tasks/get"]);
    expect(stock.received.filter((method) => method.startsWith("tasks/"))).toEqual(["tasks/cancel", "tasks/get"]);
  });

  test("G3 one list has a caller's own tasks at all servers, in their order, and lacks only those of one that is away", async () => {
    const [items, stock] = [await tasksAt({ name: "items" }), await tasksAt({ name: "stock" })];
    const gateway = await started({ record: { servers: [mcp("items", items), mcp("stock", stock)] } });
    const [client, other] = [await closedLater(connected(gateway)), await closedLater(connected(gateway))];
    const listed = async (who: Client) => (await who.experimental.tasks.listTasks()).tasks.map(({ taskId }) => taskId);
    const last = await begun(client, "stock_work");
    const many = [];
    for (let n = 0; n < 12; n++) many.push(await begun(client, "items_work"));
    const others = await begun(other, "items_work");
    expect(await listed(client)).toEqual([...many, last]);
    expect(await listed(other)).toEqual([others]);
    await expect(client.experimental.tasks.listTasks("2")).rejects.toThrow("MCP error -32602: unknown cursor");
    await items.close();
    await until("the server is missed", 10_000, async () => {
      await listed(client);
      return (await raw(gateway, "/state")).text.includes('"down"');
    });
    expect(await listed(client)).toEqual([last]);
  });

  test("F14 a task of another caller is as unknown as one that nobody has issued", async () => {
    const items = await tasksAt({ name: "items" });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const client = await closedLater(connected(gateway));
    const id = await begun(client, "items_work");
    const refusal = (message: string) => ({ jsonrpc: "2.0", id: 1, error: { code: -32602, message } });
    for (const other of [await openedSession(gateway), {}]) {
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        const ask = (params: object) => rpc(gateway, { method, params }, other);
        for (const taskId of [id, "none"]) expect(await ask({ taskId })).toEqual(refusal(`Task not found: ${taskId}`));
        expect(await ask({})).toEqual(refusal("params.taskId must be a string"));
      }
    }
    expect(items.received.filter((method) => method.startsWith("tasks/"))).toEqual([]);
    expect((await client.experimental.tasks.getTask(id)).status).toBe("working");
  });

  test("G3 of one id from two servers the first keeps it, and the other's is reached under its server's name", async () => {
    const [items, stock] = [await tasksAt({ name: "items", ids: ["1"] }), await tasksAt({ name: "stock", ids: ["1"] })];
    const gateway = await started({ record: { servers: [mcp("items", items), mcp("stock", stock)] } });
    const client = await closedLater(connected(gateway));
    const { tasks } = client.experimental;
    expect([await begun(client, "items_work"), await begun(client, "stock_work")]).toEqual(["1", "stock__1"]);
    await stock.finish("1", "of stock");
    expect([await tasks.getTask("1"), await tasks.getTask("stock__1")]).toMatchObject([
      { taskId: "1", status: "working" },
      { taskId: "stock__1", status: "completed" },
    ]);
    expect(await tasks.getTaskResult("stock__1", CallToolResultSchema)).toMatchObject({
      content: [{ text: "of stock" }],
      _meta: { "io.modelcontextprotocol/related-task": { taskId: "stock__1" } },
    });
    expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toEqual(["1", "stock__1"]);
  });

  test("G2 a task is asked for in the session with its server in which it was made, also where its client can't be asked back", async () => {
    const items = await tasksAt({ name: "items" });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const session = await openedSession(gateway, { capabilities: { elicitation: {} } });
    const call = { method: "tools/call", params: { name: "items_work", arguments: {}, task: {} } };
    const { result } = (await rpc(gateway, call, session)) as { result: { task: { taskId: string } } };
    const { taskId } = result.task;
    const jsonOnly = { ...session, accept: "application/json" };
    expect(await rpc(gateway, { method: "tasks/get", params: { taskId } }, jsonOnly)).toMatchObject({ result: { taskId } });
    expect(await rpc(gateway, { method: "tasks/list" }, jsonOnly)).toMatchObject({ result: { tasks: [{ taskId }] } });
    expect(await rpc(gateway, { method: "tasks/cancel", params: { taskId } }, jsonOnly)).toMatchObject({ result: { status: "cancelled" } });
  });

  test("G8 a restart of the gateway loses no task", async () => {
    const items = await tasksAt({ name: "items" });
    const gateway = await started({ restarts: true, record: { servers: [mcp("items", items)] } });
    const session = await openedSession(gateway);
    const call = { method: "tools/call", params: { name: "items_work", arguments: {}, task: { ttl: 60_000 } } };
    const { result } = (await rpc(gateway, call, session)) as { result: { task: { taskId: string } } };
    const { taskId } = result.task;
    await gateway.restart();
    await items.finish(taskId, "in spite of it");
    expect(await rpc(gateway, { method: "tasks/get", params: { taskId } }, session)).toMatchObject({ result: { status: "completed" } });
    const done = (await rpc(gateway, { method: "tasks/result", params: { taskId } }, session)) as { result: unknown };
    expect(said(done.result)).toBe("in spite of it");
    expect((await raw(gateway, "/mcp", { method: "DELETE", headers: session })).status).toBe(200);
    expect(await rpc(gateway, { method: "tasks/get", params: { taskId } }, session)).toMatchObject({ error: { code: -32001 } });
  });

  test("G2 what is declared of tasks is what any server has, and nothing where none has any", async () => {
    const plain = await mcpFixture({ name: "plain", tools: [[{ name: "plain_say" }, () => text("said")]] });
    clean.push(() => plain.close());
    const declared = async (...servers: ReturnType<typeof mcp>[]) =>
      (await closedLater(connected(await started({ record: { servers } })))).getServerCapabilities()?.tasks;
    const requests = { tools: { call: {} } };
    const [lists, cancels] = [await tasksAt({ name: "a", can: { list: {} } }), await tasksAt({ name: "b", can: { cancel: {} } })];
    expect(await declared(mcp("plain", plain), mcp("a", lists), mcp("b", cancels))).toEqual({ list: {}, cancel: {}, requests });
    expect(await declared(mcp("plain", plain), mcp("a", lists))).toEqual({ list: {}, requests });
    expect(await declared(mcp("plain", plain))).toBe(undefined);
    const gateway = await started({ record: { servers: [mcp("a", lists), mcp("plain", plain)] } });
    for (const method of ["tasks/cancel", "tasks/update"])
      expect(await rpc(gateway, { method, params: { taskId: "1" } })).toMatchObject({ error: { code: -32601 } });
  });

  test("G4 F48 a tool that a role may not call is no task for it either", async () => {
    const items = await tasksAt({ name: "items" });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const rule = await post(gateway, "/tools/disable", { role: "guest", tools: ["items_work"] });
    expect(rule.status).toBe(200);
    const [guest, other] = [await closedLater(connected(gateway, "guest")), await closedLater(connected(gateway))];
    const params = { name: "items_work", arguments: {}, task: {} };
    expect(await guest.request({ method: "tools/call", params }, CallToolResultSchema)).toEqual({
      isError: true,
      content: [{ type: "text", text: "Tool 'items_work' is disabled for role 'guest'" }],
    });
    await begun(other, "items_work");
    expect(items.received.filter((method) => method === "tools/call items_work")).toEqual(["tools/call items_work"]);
  });

  test("N6 what a task asks of its caller comes with the request for its result", async () => {
    const items = await tasksAt({ name: "items" });
    const gateway = await started({ record: { servers: [mcp("items", items)] } });
    const client = new Client({ name: "asked", version: "1" }, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: "accept", content: { word: `not "${params.message}"` } }));
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.base}/mcp`)));
    await closedLater(Promise.resolve(client));
    const id = await begun(client, "items_ask");
    expect(said(await client.experimental.tasks.getTaskResult(id, CallToolResultSchema))).toBe('not "Which word?"');
  });

  test("G2 a task's new state is told to its own caller, under the id that this knows", async () => {
    const [items, stock] = [await tasksAt({ name: "items", ids: ["1"] }), await tasksAt({ name: "stock", ids: ["1"] })];
    const gateway = await started({ record: { servers: [mcp("items", items), mcp("stock", stock)] } });
    const [client, other] = [await closedLater(connected(gateway)), await closedLater(connected(gateway))];
    const heard: string[] = [];
    for (const [who, listener] of [
      ["client", client],
      ["other", other],
    ] as const)
      listener.setNotificationHandler(
        TaskStatusNotificationSchema,
        ({ params }) => void heard.push(`${who} ${params.taskId} ${params.status}`),
      );
    await begun(client, "items_work");
    const id = await begun(client, "stock_work");
    await begun(other, "stock_work");
    await stock.finish("1", "done");
    await until("the state is told", 10_000, () => heard.length > 0);
    expect(heard).toEqual([`client ${id} completed`]);
  });

  test("F14 the state of a task that a session has not made is not told to it, whatever a server says on its stream", async () => {
    const capabilities = { tools: {}, logging: {} };
    const plain = await mcpFixture({ name: "plain", streams: true, capabilities, tools: [[{ name: "plain_say" }, () => text("said")]] });
    clean.push(() => plain.close());
    const gateway = await started({ record: { servers: [mcp("plain", plain)] } });
    const session = await openedSession(gateway);
    const stream = streamFrom(gateway, { headers: session });
    clean.push(async () => stream.close());
    await rpc(gateway, { method: "tools/call", params: { name: "plain_say", arguments: {} } }, session);
    await until("the server's words arrive", 10_000, () => {
      plain.push({ jsonrpc: "2.0", method: "notifications/tasks/status", params: { taskId: "1", status: "working" } });
      plain.push({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "said" } });
      return stream.messages.length > 0;
    });
    expect(new Set(stream.messages.map(({ method }) => method))).toEqual(new Set(["notifications/message"]));
  });

  test("in the mode consistent a task that is waited for holds up nothing", async () => {
    const items = await tasksAt({ name: "items" });
    const gateway = await started({ record: { gateway_mode: "consistent", servers: [mcp("items", items)] } });
    const client = await closedLater(connected(gateway));
    const id = await begun(client, "items_work");
    const result = client.experimental.tasks.getTaskResult(id, CallToolResultSchema);
    await until("the result is waited for", 10_000, () => items.received.includes("tasks/result"));
    const second = await begun(client, "items_work");
    expect((await client.experimental.tasks.cancelTask(second)).status).toBe("cancelled");
    await items.finish(id, "made");
    expect(said(await result)).toBe("made");
  });
});
