import { UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { jsonData } from "./parts.ts";

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

  const run = () => "";
  const read = () => "";
  const options: [what: string, add: () => unknown, refused: string, takes: string][] = [
    [
      "a tool's",
      // @ts-expect-error the option is called description
      () => env().tool("t2", { descripton: "Adds.", inputs: {}, run }),
      'tool "t2": unknown options "descripton" (probably "description") and "inputs" (probably "input")',
      '"title", "description", "input", "output", "annotations", "meta", "hiddenByDefault", "run"',
    ],
    [
      "a tool's annotation",
      // @ts-expect-error it is readOnlyHint
      () => env().tool("get", { description: "Gets.", annotations: { readonlyHint: true }, run }),
      'tool "get", annotations: unknown option "readonlyHint" (probably "readOnlyHint")',
      '"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"',
    ],
    [
      "a prompt's",
      // @ts-expect-error the option is called input
      () => env().prompt("plan", { description: "Plans.", arguments: {}, run }),
      'prompt "plan": unknown option "arguments"',
      '"title", "description", "input", "complete", "run"',
    ],
    [
      "a resource's",
      // @ts-expect-error the option is called mimeType
      () => env().resource("items://all", { name: "all", mimetype: "text/plain", read }),
      'resource "items://all": unknown option "mimetype" (probably "mimeType")',
      '"name", "title", "description", "mimeType", "read"',
    ],
    [
      "a resource template's",
      // @ts-expect-error the option is called complete
      () => env().resourceTemplate("items://{id}", { name: "one", completes: {}, read }),
      'resource template "items://{id}": unknown option "completes" (probably "complete")',
      '"name", "title", "description", "mimeType", "read", "complete"',
    ],
    [
      "an extension's",
      // @ts-expect-error the option is called method
      () => env().extension("urn:x:add/v1", { name: "add" }, { methd: "GET", run }),
      'extension urn:x:add/v1 method "add": unknown option "methd" (probably "method")',
      '"description", "method", "path", "input", "run"',
    ],
    [
      "the data handlers'",
      // @ts-expect-error the handler is called reset
      () => env().data({ rest: () => undefined }),
      'data: unknown option "rest" (probably "reset")',
      '"reset", "add", "get", "getUnderGrant"',
    ],
    [
      "the JSON handlers'",
      // @ts-expect-error all three are there
      () => jsonData(z.unknown(), { reset: run, add: run, gets: run }),
      'jsonData: unknown option "gets" (probably "get")',
      '"reset", "add", "get"',
    ],
    [
      "an environment's, which may hold others",
      () => new McpEnvironment({ nmae: "items", homepage: "https://a.example" }),
      'the card of McpEnvironment: unknown option "nmae" (probably "name")',
      '"name", "additionalInterfaces", "capabilities"',
    ],
  ];
  test.each(options)("an option that nobody reads: %s", (_what, add, refused, takes) => {
    expect(refusal(add)).toEqual({ what: refused, why: `the options are ${takes}`, next: "write one of these, or leave it out" });
  });

  test("an option of serve() that nobody reads", async () => {
    // @ts-expect-error the option is called port
    await expect(env().serve({ host: "127.0.0.1", prot: 8000 })).rejects.toMatchObject({
      message: 'serve: unknown option "prot" (probably "port")',
      why: 'the options are "host", "port"',
    });
  });

  test("a member of the card beside a known one that reads alike is the author's own", () => {
    expect(new McpEnvironment({ name: "items", game: "chess" }).card()["game"]).toBe("chess");
  });
});
