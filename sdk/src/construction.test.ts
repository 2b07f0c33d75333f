import { describe, expect, test } from "vitest";
import { environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";

const env = () => new McpEnvironment(environmentCard({ name: "items" }));
const prompt = { description: "Plans.", run: () => "" };
const resource = { name: "all", read: () => "" };

describe("what can't be served is refused when it is added", () => {
  test.each([
    ["a prompt twice", () => env().prompt("plan", prompt).prompt("plan", prompt), 'prompt "plan" is there twice', "rename one of them"],
    ["a prompt's illegal name", () => env().prompt("my plan", prompt), 'prompt "my plan" can\'t be named so', "rename it"],
    [
      "a prompt's name with a brace",
      () => env().prompt("{name}_plan", prompt),
      'prompt "{name}_plan" has a brace in its name',
      'write "{environment_name}_…", which is served as "items_…"',
    ],
    [
      "a resource twice",
      () => env().resource("items://all", resource).resource("items://all", resource),
      'resource "items://all" is there twice',
      "change one of them",
    ],
    [
      "a resource without a scheme",
      () => env().resource("/all", resource),
      'resource "/all" has no URI',
      'write one with a scheme, for example "items://all"',
    ],
    [
      "a template twice",
      () => env().resourceTemplate("items://{id}", resource).resourceTemplate("items://{id}", resource),
      'resource template "items://{id}" is there twice',
      "change one of them",
    ],
    [
      "a second hook",
      () =>
        env()
          .onToolCall(() => null)
          .onToolCall(() => null),
      "onToolCall is set already",
      "do both in one function",
    ],
    [
      "a second set of data handlers",
      () =>
        env()
          .data({ get: () => [] })
          .data({ reset: () => undefined }),
      "data is set already",
      "give all of them at once",
    ],
    [
      "an export under grants alone",
      () => env().data({ getUnderGrant: () => [] }),
      "data has getUnderGrant without get",
      "add get, which answers these with parts",
    ],
    [
      "an extension where the environment itself answers",
      () => env().extension("urn:x:a/v1", { name: "a" }, { path: "/mcp", run: () => ({}) }),
      'extension urn:x:a/v1 can\'t be at "/mcp"',
      "give it another path",
    ],
    [
      "a completion of nothing",
      () => env().prompt("plan", { ...prompt, complete: { days: () => [] } } as typeof prompt),
      'prompt "plan" completes "days"',
      "complete what is there, or leave `complete` out",
    ],
    [
      "an empty name on the card",
      () => environmentCard({ name: "" }),
      "environmentCard: name is empty",
      'write one, for example environmentCard({ name: "items" })',
    ],
  ])("%s", (_what, add, message, next) => {
    expect(add).toThrow(expect.objectContaining({ message, next }));
  });
});

test("a prompt is named after the environment, as a tool is", () => {
  const named = env().prompt("{environment_name}_plan", prompt);
  expect(() => named.prompt("items_plan", prompt)).toThrow('prompt "items_plan" is there twice');
});

test("a tool that isn't there can't be described", async () => {
  const described = env()
    .tool("add", { description: "Adds.", run: () => "" })
    .describeTool("drop", "Drops.");
  await expect(described).rejects.toMatchObject({
    message: 'tool "drop" can\'t be described',
    why: 'the tools are "add"',
    next: "name one of these, or add it first",
  });
});
