import { describe, expect, test } from "vitest";
import { z } from "zod";
import { clientOf, ERAS } from "../../../test/fixtures/sdk/clients.ts";
import { served } from "../../../test/fixtures/sdk/serving.ts";
import { AgentEnvError } from "../agent-env-error.ts";
import { environmentCard } from "../card.ts";
import { McpEnvironment } from "../mcp-environment.ts";

const items = () => new McpEnvironment(environmentCard({ name: "items" }));

/** Everything that can be served, once. */
const everything = () =>
  items()
    .tool("add", {
      title: "Add",
      description: "Adds.",
      input: { title: z.string() },
      output: z.object({ total: z.int() }),
      annotations: { idempotentHint: true },
      run: ({ title }) => ({ total: title.length }),
    })
    .resource("items://all", { name: "all", read: () => ["tea"] })
    .resourceTemplate("items://{id}/raw", {
      name: "raw",
      mimeType: "text/plain",
      read: ({ id }, { caller }) => (id === "none" ? undefined : `${id} for ${caller.role}`),
      complete: { id: (typed) => ["tea", "toast"].filter((name) => name.startsWith(typed)) },
    })
    .prompt("plan", {
      description: "Plans.",
      input: { days: z.int().describe("How many."), mood: z.enum(["calm", "bold"]).default("calm") },
      complete: { mood: () => ["calm", "bold"] },
      run: ({ days, mood }, { caller }) => `${mood} ${days + 1} for ${caller.role}`,
    });

describe.each(ERAS)("a client of the %s era", (era) => {
  test("speaks its own revision, and learns what is served", async () => {
    const client = await clientOf(await served(everything()), era);
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "modern" ? "2026-07-28" : "2025-11-25");
    expect(client.getServerVersion()).toEqual({ name: "items", version: "1.0" });
    expect(client.getServerCapabilities()).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: false },
      prompts: { listChanged: false },
      completions: {},
      logging: {},
    });
  });

  test("lists and calls tools", async () => {
    const client = await clientOf(await served(everything()), era);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([{ name: "add", title: "Add", annotations: { idempotentHint: true }, outputSchema: { type: "object" } }]);
    expect(await client.callTool({ name: "add", arguments: { title: "tea" } })).toMatchObject({ structuredContent: { total: 3 } });
    expect(await client.callTool({ name: "add", arguments: {} })).toMatchObject({ isError: true });
  });

  test("lists, reads and completes resources, as itself", async () => {
    const client = await clientOf(await served(everything()), era, {}, { "AgentEnv-Role": "alice" });
    expect((await client.listResources()).resources).toEqual([{ uri: "items://all", name: "all" }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([
      { uriTemplate: "items://{id}/raw", name: "raw", mimeType: "text/plain" },
    ]);
    expect((await client.readResource({ uri: "items://all" })).contents).toEqual([
      { uri: "items://all", mimeType: "application/json", text: '["tea"]' },
    ]);
    expect((await client.readResource({ uri: "items://a%2Fb/raw" })).contents).toEqual([
      { uri: "items://a%2Fb/raw", mimeType: "text/plain", text: "a/b for alice" },
    ]);
    const ref = { type: "ref/resource" as const, uri: "items://{id}/raw" };
    expect(await client.complete({ ref, argument: { name: "id", value: "to" } })).toMatchObject({
      completion: { values: ["toast"], total: 1, hasMore: false },
    });
    for (const uri of ["items://none/raw", "items://nope"]) {
      await expect(client.readResource({ uri })).rejects.toThrow(`Resource not found: ${uri}`);
    }
  });

  test("lists, gets and completes prompts, as itself", async () => {
    const client = await clientOf(await served(everything()), era, {}, { "AgentEnv-Role": "alice" });
    expect((await client.listPrompts()).prompts).toEqual([
      {
        name: "plan",
        description: "Plans.",
        arguments: [
          { name: "days", description: "How many.", required: true },
          { name: "mood", required: false },
        ],
      },
    ]);
    expect(await client.getPrompt({ name: "plan", arguments: { days: "2" } })).toMatchObject({
      description: "Plans.",
      messages: [{ role: "user", content: { type: "text", text: "calm 3 for alice" } }],
    });
    const ref = { type: "ref/prompt" as const, name: "plan" };
    expect((await client.complete({ ref, argument: { name: "mood", value: "" } })).completion.values).toEqual(["calm", "bold"]);
    expect((await client.complete({ ref, argument: { name: "days", value: "" } })).completion.values).toEqual([]);
    await expect(client.getPrompt({ name: "nope" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("Unknown prompt: nope"),
    });
    await expect(client.getPrompt({ name: "plan", arguments: { days: "x" } })).rejects.toMatchObject({ code: -32602 });
  });

  test("is told the code and fields of a resource or prompt that fails with one", async () => {
    const fail = () => {
      throw new AgentEnvError("closed", "we are closed", { retryable: true });
    };
    const env = items().resource("items://shut", { name: "shut", read: fail }).prompt("shut", { description: "Fails.", run: fail });
    const client = await clientOf(await served(env), era);
    const expected = { code: -32603, data: { code: "closed", message: "we are closed", retryable: true, applied: "no" } };
    for (const ask of [() => client.readResource({ uri: "items://shut" }), () => client.getPrompt({ name: "shut" })]) {
      await expect(ask()).rejects.toMatchObject({ ...expected, message: expect.stringContaining("closed: we are closed") });
    }
  });

  test("a cursor that was never handed out is refused", async () => {
    const client = await clientOf(await served(everything()), era);
    await expect(client.listTools({ cursor: "2" })).rejects.toMatchObject({ code: -32602 });
  });

  test("W1.4 has the session that the gateway says, in the modern era no other", async () => {
    const env = items().tool("who", { description: "Who.", run: (_args, { caller }) => String(caller.session) });
    const forged: Record<string, string> = era === "modern" ? { "Mcp-Session-Id": "forged" } : {};
    const client = await clientOf(await served(env), era, {}, forged);
    const session = async (_meta: Record<string, unknown>) => JSON.stringify((await client.callTool({ name: "who", _meta })).content);
    expect(await session({ "agentenv.io/session": "s1" })).toContain('"s1"');
    expect(await session({})).toMatch(era === "modern" ? /"null"/ : /"[0-9a-f]{32}"/);
    expect(await session({ "agentenv.io/role": "alice" })).toContain('"null"');
  });

  test("is told of progress while it rises, and of log lines of the level it asked for", async () => {
    const env = items().tool("work", {
      description: "Works.",
      async run(_args, { client }) {
        for (const step of [1, 2, 2, 1, 3]) await client.progress(step, { total: 3, message: `step ${step}` });
        await client.log("debug", "fine");
        await client.log("warning", { hot: true });
        return "done";
      },
    });
    const client = await clientOf(await served(env), era);
    const lines: unknown[] = [];
    client.setNotificationHandler("notifications/message", ({ params }) => void lines.push([params.level, params.data]));
    const steps: unknown[] = [];
    const call = { name: "work", ...(era === "modern" ? { _meta: { "io.modelcontextprotocol/logLevel": "warning" } } : {}) };
    if (era === "legacy") await client.setLoggingLevel("warning");
    const answer = await client.callTool(call, { onprogress: (progress) => void steps.push(progress) });
    expect(answer).toMatchObject({ content: [{ text: "done" }] });
    expect(steps).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    expect(lines).toEqual([["warning", { hot: true }]]);
  });

  test("is told nothing once a call has ended, and nothing breaks", async () => {
    const late = Promise.withResolvers<void>();
    const env = items().tool("hurry", {
      description: "Answers before it has said all.",
      run(_args, { client: told }) {
        setImmediate(() => setImmediate(() => late.resolve(told.progress(1).then(() => told.log("error", "late")))));
        return "done";
      },
    });
    const client = await clientOf(await served(env), era);
    const steps: unknown[] = [];
    const answer = await client.callTool({ name: "hurry" }, { onprogress: (progress) => void steps.push(progress) });
    await late.promise;
    expect([answer.content, steps]).toEqual([[{ type: "text", text: "done" }], []]);
  });

  test("cancels a call, which is told so", async () => {
    const started = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<boolean>();
    const env = items().tool("wait", {
      description: "Waits.",
      async run(_args, { signal }) {
        signal.addEventListener("abort", () => cancelled.resolve(signal.aborted));
        started.resolve();
        await cancelled.promise;
      },
    });
    const client = await clientOf(await served(env), era);
    const abort = new AbortController();
    const call = client.callTool({ name: "wait" }, { signal: abort.signal });
    await started.promise;
    abort.abort();
    await expect(call).rejects.toThrow();
    expect(await cancelled.promise).toBe(true);
  });

  test("is told when a resource that it watches has changed, and when a tool says something else of itself", async () => {
    const env = everything();
    const client = await clientOf(await served(env), era);
    const seen: string[] = [];
    const twice = Promise.withResolvers<void>();
    const see = (what: string) => {
      seen.push(what);
      if (seen.length === 2) twice.resolve();
    };
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => see(params.uri));
    client.setNotificationHandler("notifications/tools/list_changed", () => see("tools"));
    if (era === "legacy") await client.subscribeResource({ uri: "items://all" });
    else await client.listen({ toolsListChanged: true, resourceSubscriptions: ["items://all"] });
    await env.resourceUpdated("items://other");
    await env.resourceUpdated("items://all");
    await env.describeTool("add", "Adds one.");
    await twice.promise;
    expect(seen.sort()).toEqual(["items://all", "tools"]);
    expect((await client.listTools()).tools[0]?.description).toBe("Adds one.");
  });
});
