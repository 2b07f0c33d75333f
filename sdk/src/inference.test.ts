import { html } from "hono/html";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Elicited } from "./call-client.ts";
import { environmentCard } from "./card.ts";
import type { ToolContext } from "./context.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { jsonData } from "./parts.ts";
import type { ToolResult } from "./tool-result.ts";
import type { ToolDefinition } from "./tools.ts";
import type { Variables } from "./uri-template.ts";
import { WebsiteEnvironment } from "./website-environment.ts";

// What these tests expect is checked by the compiler: handlers have no annotations, and get what their schemas say.

const env = () => new McpEnvironment(environmentCard({ name: "items" }));
const Colour = z.enum(["red", "blue"]);

test("a tool's arguments are its schemas' outputs, defaults and transforms applied", () => {
  env().tool("paint", {
    description: "Paints.",
    input: {
      colour: Colour.default("red"),
      coats: z.int().optional(),
      at: z.iso.datetime().transform((text) => new Date(text)),
      tags: z.array(z.string()),
    },
    run(args, context) {
      expectTypeOf(args).toEqualTypeOf<{ colour: "red" | "blue"; coats?: number | undefined; at: Date; tags: string[] }>();
      expectTypeOf(context).toEqualTypeOf<ToolContext>();
    },
  });
});

test("a tool without input has no arguments, and may return anything", () => {
  env().tool("look", {
    description: "Looks.",
    run(args) {
      expectTypeOf(args).toEqualTypeOf<Record<string, never>>();
      return { seen: true };
    },
  });
});

test("a tool with output returns what its schema takes, or a whole result", () => {
  const Output = z.object({ total: z.int(), note: z.string().default("") });
  type Definition = ToolDefinition<Record<never, never>, typeof Output>;
  type Returned = { total: number; note?: string | undefined } | ToolResult;
  expectTypeOf<ReturnType<Definition["run"]>>().toEqualTypeOf<Returned | Promise<Returned>>();
  // @ts-expect-error the total is missing
  env().tool("count", { description: "Counts.", output: Output, run: () => ({ note: "none" }) });
  // @ts-expect-error a promise of something else
  env().tool("later", { description: "Counts later.", output: Output, run: async () => ({ total: "1" }) });
});

test("a prompt's arguments are converted to what its schemas say", () => {
  env().prompt("plan", {
    description: "Plans.",
    input: { days: z.int(), colour: Colour.optional() },
    complete: { colour: (typed, given) => [typed, ...Object.values(given)] },
    run(args) {
      expectTypeOf(args).toEqualTypeOf<{ days: number; colour?: "red" | "blue" | undefined }>();
      return "";
    },
  });
  const input = { days: z.int() };
  // @ts-expect-error there is no such argument
  const stray = () => env().prompt("other", { description: "Plans.", input, complete: { weeks: () => [] }, run: () => "" });
  expect(stray).toThrow('prompt "other" completes "weeks"');
});

test("a template's variables are those that its text names", () => {
  expectTypeOf<keyof Variables<"items://{shelf}/{+path}">>().toEqualTypeOf<"shelf" | "path">();
  env().resourceTemplate("items://{shelf}/{+path}", {
    name: "item",
    complete: { path: () => [] },
    read(variables) {
      expectTypeOf(variables.shelf).toBeString();
      expectTypeOf(variables.path).toBeString();
      // @ts-expect-error the template has no such variable
      return variables.id;
    },
  });
  // @ts-expect-error the template has no such variable
  const stray = () => env().resourceTemplate("items://{id}", { name: "item", complete: { path: () => [] }, read: () => "" });
  expect(stray).toThrow('resource template "items://{id}" completes "path"');
});

test("an extension's params, and a seed, are their schemas' outputs", () => {
  env().extension(
    "urn:x:rate/v1",
    { name: "rate" },
    {
      input: { rate: z.number(), from: z.date().optional() },
      run(params) {
        expectTypeOf(params).toEqualTypeOf<{ rate: number; from?: Date | undefined }>();
      },
    },
  );
  env().data(
    jsonData(z.object({ items: z.array(z.string()).default([]) }), {
      reset: () => undefined,
      add: (seed) => expectTypeOf(seed).toEqualTypeOf<{ items: string[] }>(),
      get: () => ({}),
    }),
  );
});

test("an accepted form has what its schemas say, any other answer nothing", () => {
  type Form = Elicited<{ count: z.ZodInt; colour: typeof Colour }>;
  expectTypeOf<Extract<Form, { action: "accept" }>["content"]>().toEqualTypeOf<{ count: number; colour: "red" | "blue" }>();
  expectTypeOf<Exclude<Form, { action: "accept" }>>().toEqualTypeOf<{ readonly action: "decline" | "cancel" }>();
  env().tool("ask", {
    description: "Asks.",
    async run(_args, { client }) {
      const form = await client.elicit({ message: "?", input: { count: z.int() } });
      // @ts-expect-error only an accepted form has a content
      void form.content;
      return form.action === "accept" ? form.content.count : 0;
    },
  });
});

test("a visitor's value is what its first visit makes", () => {
  const site = new WebsiteEnvironment(environmentCard({ name: "shop" }));
  const carts = site.sessions(() => ({ items: [] as string[] }));
  site.page("/", (c) => {
    expectTypeOf(carts.of(c)).toEqualTypeOf<{ items: string[] }>();
    expectTypeOf(c.req.path).toBeString();
    return html``;
  });
});
