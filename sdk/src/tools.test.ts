import { describe, expect, test } from "vitest";
import { z } from "zod";
import { connected, served, withVariables } from "../../test/fixtures/sdk/serving.ts";
import { AgentEnvError } from "./agent-env-error.ts";
import { environmentCard } from "./card.ts";
import { type ToolContext, toolContext } from "./context.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { ToolResult } from "./tool-result.ts";

const items = () => new McpEnvironment(environmentCard({ name: "items" }));

/** A server whose tool `who` tells what it was told of its caller. */
const who = () => items().tool("who", { description: "Who calls.", run: (_args, { caller }) => ({ ...caller }) });

describe("W1.4 a tool sees the caller", () => {
  test("V12 a blank role in _meta is no role, and no header is looked at", async () => {
    const client = await connected(await served(who()), { "AgentEnv-Role": "bob" });
    const answer = await client.callTool({ name: "who", arguments: {}, _meta: { "agentenv.io/role": "" } });
    expect(answer.content).toEqual([{ type: "text", text: '{"role":null,"session":null}' }]);
  });

  test("V13 without the key in _meta the headers speak", async () => {
    const url = await served(who());
    const client = await connected(url, { "AgentEnv-Role": " bob " });
    const answer = await client.callTool({ name: "who", arguments: {} });
    const text = JSON.stringify(answer.content);
    expect(text).toContain('\\"role\\":\\"bob\\"');
    expect(text).toMatch(/session\\":\\"[0-9a-f]{32}\\"/);
  });

  test.each([
    ["admin", "admin"],
    ["  admin ", "admin"],
    ["default", null],
    [7, null],
    [null, null],
  ])("a _meta role of %j is %j", async (given, role) => {
    const client = await connected(await served(who()), { "AgentEnv-Role": "bob" });
    const meta = { "agentenv.io/role": given, "agentenv.io/session": "s9" };
    const answer = await client.callTool({ name: "who", arguments: {}, _meta: meta });
    expect(answer.content).toEqual([{ type: "text", text: JSON.stringify({ role, session: "s9" }) }]);
  });

  test("the context names the call, is read-only, and reaches whatever runs for it", async () => {
    const seen: ToolContext[] = [];
    const deep = async () => {
      await new Promise(setImmediate);
      seen.push(toolContext());
    };
    const env = items().tool("look", {
      description: "Looks.",
      input: { at: z.string() },
      async run(_args, context) {
        seen.push(context);
        await deep();
      },
    });
    const client = await connected(await served(env));
    await client.callTool({ name: "look", arguments: { at: "that" } });
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({ tool: "look", arguments: { at: "that" }, callId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(seen.every((context) => Object.isFrozen(context.arguments))).toBe(true);
  });

  test("outside a call the context is empty, and there is nobody to speak with", async () => {
    const { signal, client, ...facts } = toolContext();
    expect(facts).toEqual({ caller: { role: null, session: null }, tool: null, arguments: {}, callId: null });
    expect([signal.aborted, client.can("elicitation")]).toEqual([false, false]);
    await client.progress(1);
    await client.log("error", "nobody sees it");
    await expect(client.roots()).rejects.toThrow(`the client can't be asked: it hasn't declared {"roots":{}}`);
  });
});

describe("V14 what goes wrong is a result with isError", () => {
  const failing = () =>
    items()
      .tool("buy", {
        description: "Buys.",
        run: () => Promise.reject(new AgentEnvError("no_stock", "nothing left", { hint: "wait", applied: "no" })),
      })
      .tool("crash", {
        description: "Crashes.",
        run: () => {
          throw new Error("boom");
        },
      })
      .tool("add", { description: "Adds.", input: { title: z.string() }, run: ({ title }) => title })
      .tool("lie", { description: "Lies.", output: z.object({ n: z.int() }), run: () => ({ n: 0.5 }) });

  test("a failure with a code has its five fields", async () => {
    const client = await connected(await served(failing()));
    expect(await client.callTool({ name: "buy" })).toEqual({
      content: [{ type: "text", text: "no_stock: nothing left" }],
      structuredContent: { code: "no_stock", message: "nothing left", retryable: false, applied: "no", hint: "wait" },
      isError: true,
    });
  });

  test.each([
    ["crash", {}, "Error executing tool crash: boom"],
    ["add", {}, "Error executing tool add: title: Invalid input: expected string, received undefined"],
    ["nope", {}, "Unknown tool: nope"],
    ["lie", {}, "Error executing tool lie: the result isn't as its output schema says: n: Invalid input: expected int, received number"],
  ])("%s", async (name, args, text) => {
    const client = await connected(await served(failing()));
    expect(await client.callTool({ name, arguments: args })).toEqual({ content: [{ type: "text", text }], isError: true });
  });
});

describe("V15 names of tools", () => {
  test("{environment_name} becomes the environment's name", async () => {
    withVariables({ ENVIRONMENT_NAME: "crm" });
    const client = await connected(await served(items().tool("{environment_name}_add", { description: "Adds.", run: () => "" })));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["crm_add"]);
  });

  test.each([
    ["{x}_add", 'tool "{x}_add" has a brace in its name'],
    ["add}", 'tool "add}" has a brace in its name'],
    ["add one", 'tool "add one" can\'t be named so'],
    ["", 'tool "" can\'t be named so'],
    ["add", 'tool "add" is there twice'],
  ])("%j is refused before anything is served", (name, message) => {
    const env = items().tool("add", { description: "Adds.", run: () => "" });
    expect(() => env.tool(name, { description: "Adds.", run: () => "" })).toThrow(message);
  });

  test("an argument that JSON Schema can't describe is refused, naming the tool", () => {
    expect(() => items().tool("at", { description: "At.", input: { when: z.date() }, run: () => "" })).toThrow(
      'tool "at" has a schema that can\'t be written as JSON Schema',
    );
  });
});

describe("what tools/list shows", () => {
  test("title, annotations, output schema, _meta and the hidden mark", async () => {
    const env = items().tool("count", {
      title: "Count",
      description: "Counts.",
      input: { of: z.enum(["a", "b"]).default("a").describe("What."), limit: z.int().optional() },
      output: z.int(),
      annotations: { readOnlyHint: true },
      meta: { colour: "red" },
      hiddenByDefault: true,
      run: () => 3,
    });
    const client = await connected(await served(env));
    expect((await client.listTools()).tools).toEqual([
      {
        name: "count",
        title: "Count",
        description: "Counts.",
        inputSchema: {
          type: "object",
          properties: { of: { type: "string", enum: ["a", "b"], default: "a", description: "What." }, limit: { type: "integer" } },
        },
        outputSchema: { type: "object", properties: { result: { type: "integer" } }, required: ["result"], additionalProperties: false },
        annotations: { readOnlyHint: true },
        _meta: { colour: "red", "agentenv.io/hiddenByDefault": true },
      },
    ]);
    expect(await client.callTool({ name: "count", arguments: {} })).toEqual({
      content: [{ type: "text", text: "3" }],
      structuredContent: { result: 3 },
      isError: false,
    });
  });

  test("a description that changes while it serves changes in the list and on the card, and clients are told", async () => {
    const env = items().tool("{environment_name}_add", { description: "Adds.", run: () => "" });
    const client = await connected(await served(env));
    const told = Promise.withResolvers<void>();
    const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => told.resolve());
    await client.listTools();
    await env.describeTool("{environment_name}_add", "Adds one item.");
    await told.promise;
    expect((await client.listTools()).tools[0]?.description).toBe("Adds one item.");
    expect(env.card()).toMatchObject({ capabilities: { tools: [{ description: "Adds one item." }] } });
  });
});

test("the types of arguments and result come from the schemas", () => {
  items().tool("add", {
    description: "Adds.",
    input: { title: z.string(), count: z.int().default(1) },
    output: z.object({ total: z.int() }),
    run: ({ title, count }) => ({ total: (title satisfies string) ? (count satisfies number) : 0 }),
  });
  items().tool("add", {
    description: "Adds.",
    output: z.object({ total: z.int() }),
    // @ts-expect-error the output schema wants a number
    run: () => ({ total: "one" }),
  });
});

describe("results", () => {
  test.each([
    ["text", "hi", [{ type: "text", text: "hi" }]],
    ["nothing", undefined, []],
    ["a list", [1, 2], [{ type: "text", text: "[1,2]" }]],
    [
      "a complete result",
      new ToolResult({ content: [{ type: "image", data: "eA==", mimeType: "image/png" }] }),
      [{ type: "image", data: "eA==", mimeType: "image/png" }],
    ],
  ])("%s", async (_kind, value, content) => {
    const client = await connected(await served(items().tool("give", { description: "Gives.", run: () => value })));
    expect((await client.callTool({ name: "give" })).content).toEqual(content);
  });
});

describe("onToolCall", () => {
  const hooked = (hook: Parameters<McpEnvironment["onToolCall"]>[0]) =>
    items()
      .tool("add", { description: "Adds.", run: () => "added" })
      .onToolCall(hook);

  test.each([
    ["null lets the call go on", () => null, { content: [{ type: "text", text: "added" }], isError: false }],
    [
      "a complete result answers instead",
      async () => ({ content: [{ type: "text" as const, text: "no" }] }),
      { content: [{ type: "text", text: "no" }] },
    ],
    [
      "a throw is a result with isError",
      () => {
        throw new AgentEnvError("closed", "we are closed");
      },
      {
        content: [{ type: "text", text: "closed: we are closed" }],
        structuredContent: { code: "closed", message: "we are closed", retryable: false, applied: "no" },
        isError: true,
      },
    ],
  ])("%s", async (_name, hook, expected) => {
    const client = await connected(await served(hooked(hook)));
    expect(await client.callTool({ name: "add" })).toEqual(expected);
  });

  test("it does not run for an unknown tool", async () => {
    const client = await connected(
      await served(
        hooked(() => {
          throw new Error("ran");
        }),
      ),
    );
    expect((await client.callTool({ name: "nope" })).content).toEqual([{ type: "text", text: "Unknown tool: nope" }]);
  });
});
