import { UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";

/** What a call throws, in full. */
function refusal(add: () => unknown): { what: string; why: string; next: string } {
  try {
    add();
  } catch (thrown) {
    if (thrown instanceof UserError) return { what: thrown.message, why: thrown.why, next: thrown.next };
    throw thrown;
  }
  throw new Error("nothing was refused");
}

describe("what JavaScript can get wrong is refused before anything is served", () => {
  const env = () => new McpEnvironment(environmentCard({ name: "items" }));

  test("a handler with two contexts", () => {
    const run = (_args: unknown, _context: unknown, _other: unknown) => "";
    // @ts-expect-error a handler takes two parameters
    expect(refusal(() => env().tool("add", { description: "Adds.", run }))).toEqual({
      what: 'tool "add" has a handler that takes 3 parameters',
      why: "a handler gets its arguments, and one context",
      next: "write run: (args, context) => …, and take what else it needs from toolContext()",
    });
  });

  test("a handler that is none", () => {
    // @ts-expect-error a handler is a function
    expect(refusal(() => env().prompt("plan", { description: "Plans.", run: "later" }))).toEqual({
      what: 'prompt "plan" has no handler',
      why: "run is string, and must be a function",
      next: "write run: (args, context) => …",
    });
  });

  test("an argument without a schema", () => {
    const input = { title: "string", count: { type: "integer" }, of: z.string() };
    // @ts-expect-error an argument has a zod schema
    expect(refusal(() => env().tool("add", { description: "Adds.", input, run: () => "" }))).toEqual({
      what: 'tool "add" has "title" and "count" without a schema',
      why: "each argument of the input has a zod schema, made with the z of this SDK",
      next: 'import { z } from "@agent-env/sdk", and write for example { title: z.string() }',
    });
  });

  test("a schema of the arguments as a whole", () => {
    const input = z.object({ title: z.string() });
    // @ts-expect-error the input is a shape
    const add = () => env().extension("urn:x:add/v1", { name: "add" }, { input, run: () => "" });
    expect(refusal(add)).toEqual({
      what: 'extension urn:x:add/v1 method "add" has an input that is no shape',
      why: "the input names each argument with its own schema",
      next: "write input: { title: z.string() }, without z.object around it",
    });
  });
});
