import { describe, expect, test } from "vitest";
import { z } from "zod";
import { clientOf, ERAS } from "../../../test/fixtures/sdk/clients.ts";
import { served } from "../../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "../card.ts";
import { now } from "../clock.ts";
import type { ToolContext } from "../context.ts";
import { McpEnvironment } from "../mcp-environment.ts";

/** An environment whose only tool is `ask`. */
const asking = (run: (context: ToolContext) => unknown) =>
  new McpEnvironment(environmentCard({ name: "items" })).tool("ask", { description: "Asks.", run: (_args, context) => run(context) });
const textOf = (answer: object) => JSON.stringify(answer);

describe.each(ERAS)("N6 a tool asks a client of the %s era", (era) => {
  test("for a form, whose answer is as its schemas say", async () => {
    let begun = 0;
    const env = asking(async ({ client }) => {
      begun++;
      const answer = await client.elicit({
        message: "How many?",
        input: {
          count: z.int().min(1).describe("Of tea."),
          size: z.union([z.literal("s").meta({ title: "Small" }), z.literal("l").meta({ title: "Large" })]),
          gift: z.boolean().default(false),
        },
      });
      return answer.action === "accept" ? { next: answer.content.count + 1, ...answer.content } : answer.action;
    });
    const url = await served(env);
    const forms: unknown[] = [];
    const form = (message: string, schema: unknown) => {
      forms.push(message, schema);
      return { action: "accept" as const, content: { count: 2, size: "l" } };
    };
    const client = await clientOf(url, era, { form });
    expect(await client.callTool({ name: "ask" })).toMatchObject({ content: [{ text: '{"next":3,"count":2,"size":"l","gift":false}' }] });
    expect(forms).toEqual([
      "How many?",
      {
        type: "object",
        properties: {
          count: { type: "integer", minimum: 1, description: "Of tea." },
          size: {
            type: "string",
            oneOf: [
              { const: "s", title: "Small" },
              { const: "l", title: "Large" },
            ],
          },
          gift: { type: "boolean", default: false },
        },
        required: ["count", "size"],
      },
    ]);
    expect(begun).toBe(1);
  });

  test.each(["decline", "cancel"] as const)("and is told of a %s", async (action) => {
    const env = asking(async ({ client }) => (await client.elicit({ message: "?", input: {} })).action);
    const client = await clientOf(await served(env), era, { form: () => ({ action }) });
    expect(await client.callTool({ name: "ask" })).toMatchObject({ content: [{ text: action }] });
  });

  test("and fails on an answer that isn't as its schemas say", async () => {
    const env = asking(async ({ client }) => await client.elicit({ message: "?", input: { count: z.int() } }));
    const client = await clientOf(await served(env), era, { form: () => ({ action: "accept", content: { count: 0.5 } }) });
    expect(textOf(await client.callTool({ name: "ask" }))).toContain(
      "Error executing tool ask: the client's answer (form) isn't what was asked for: count: Invalid input: expected int, received number",
    );
  });

  test("for a page, its model and its roots, one after the other and at once", async () => {
    const env = asking(async ({ client }) => {
      const page = await client.openUrl({ message: "Pay", url: "https://pay.example/1" });
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Capital?" } }];
      const [sample, roots] = await Promise.all([client.sample({ messages, maxTokens: 9 }), client.roots()]);
      return [page, sample.content, roots];
    });
    const pages: string[] = [];
    const client = await clientOf(await served(env), era, {
      page: (address) => {
        pages.push(address);
        return "accept";
      },
      model: (text) => `${text} Paris`,
      roots: ["file:///work"],
    });
    const [text] = (await client.callTool({ name: "ask" })).content;
    expect(JSON.parse(text?.type === "text" ? text.text : "")).toEqual([
      "accept",
      { type: "text", text: "Capital? Paris" },
      [{ uri: "file:///work" }],
    ]);
    expect(pages).toEqual(["https://pay.example/1"]);
  });

  test("and may look first whether it can", async () => {
    const env = asking(({ client }) =>
      (["elicitation", "elicitation.url", "sampling", "roots"] as const).filter((what) => client.can(what)),
    );
    const url = await served(env);
    const can = async (client: Awaited<ReturnType<typeof clientOf>>) => (await client.callTool({ name: "ask" })).content;
    const text = (...what: string[]) => [{ type: "text", text: JSON.stringify(what) }];
    expect(await can(await clientOf(url, era))).toEqual(text());
    expect(await can(await clientOf(url, era, { form: () => ({ action: "cancel" }) }))).toEqual(text("elicitation"));
    expect(await can(await clientOf(url, era, { page: () => "cancel", roots: [] }))).toEqual(text("elicitation.url", "roots"));
    expect(await can(await clientOf(url, era, { model: () => "" }))).toEqual(text("sampling"));
  });

  test("what the client hasn't declared is refused by its name", async () => {
    const env = asking(async ({ client }) => await client.roots());
    const call = (await clientOf(await served(env), era)).callTool({ name: "ask" });
    if (era === "modern") await expect(call).rejects.toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } });
    else {
      expect(await call).toEqual({
        content: [{ type: "text", text: `Error executing tool ask: the client can't be asked: it hasn't declared {"roots":{}}` }],
        isError: true,
      });
    }
  });

  test("prompts and resources ask as well", async () => {
    const ask = async ({ client }: ToolContext) => {
      const answer = await client.elicit({ message: "Who?", input: { name: z.string() } });
      return answer.action === "accept" ? answer.content.name : "";
    };
    const env = asking(() => "").prompt("hello", { description: "Greets.", run: async (_args, context) => `Hello ${await ask(context)}` });
    env.resource("items://who", { name: "who", read: ask });
    const client = await clientOf(await served(env), era, { form: () => ({ action: "accept", content: { name: "Ada" } }) });
    expect((await client.getPrompt({ name: "hello" })).messages).toMatchObject([{ content: { text: "Hello Ada" } }]);
    expect((await client.readResource({ uri: "items://who" })).contents).toMatchObject([{ text: "Ada" }]);
  });
});

test("a form with a field that no form can have fails, naming it", async () => {
  const env = asking(async ({ client }) => await client.elicit({ message: "Where?", input: { at: z.object({ x: z.number() }) } }));
  const client = await clientOf(await served(env), "modern", { form: () => ({ action: "cancel" }) });
  expect(textOf(await client.callTool({ name: "ask" }))).toContain('the form \\"Where?\\" has a field that no form can have: at');
});

test("W1.4 a call that was asked back sees the time of the request that goes on with it", async () => {
  const env = asking(async ({ client }) => {
    const before = now().toISOString();
    await client.elicit({ message: "?", input: {} });
    return [before, now().toISOString()];
  });
  const headers = { "X-Universe-Now": "2026-01-01T00:00:00Z" };
  const form = () => {
    headers["X-Universe-Now"] = "2026-01-02T00:00:00Z";
    return { action: "accept" as const, content: {} };
  };
  const client = await clientOf(await served(env), "modern", { form }, headers);
  expect((await client.callTool({ name: "ask" })).content).toEqual([
    { type: "text", text: '["2026-01-01T00:00:00.000Z","2026-01-02T00:00:00.000Z"]' },
  ]);
});
