import { Card } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { connected, served, withVariables } from "../../test/fixtures/sdk/serving.ts";
import { type CardDeclaration, environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { WebsiteEnvironment } from "./website-environment.ts";

describe("the card as it is served", () => {
  test("W1.2 is pinned: an MCP server with one tool and all data methods", async () => {
    const env = new McpEnvironment(environmentCard({ name: "items" }))
      .tool("{environment_name}_add", { description: "Add one item.", input: { name: z.string() }, run: () => null })
      .data({ get: () => [], add: () => null, reset: () => null });
    const answer = await fetch(`${await served(env)}/.well-known/agent-env.json`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    const card = await answer.json();
    expect(card).toEqual({
      name: "items",
      protocolVersion: "1.0",
      url: "/agentenv",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [{ url: "/mcp", transport: "mcp" }],
      capabilities: {
        operations: ["data/reset", "data/add", "data/get"],
        extensions: null,
        tools: [
          {
            name: "items_add",
            description: "Add one item.",
            inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          },
        ],
      },
      children_environments: null,
    });
    expect(Card.safeParse(card).success).toBe(true);
  });

  test("HEAD is answered, POST is 405", async () => {
    const url = `${await served(new WebsiteEnvironment(environmentCard({ name: "notes" })))}/.well-known/agent-env.json`;
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    const posted = await fetch(url, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("operations are what is served, none without handlers", () => {
    expect(
      new WebsiteEnvironment(environmentCard({ name: "a", capabilities: { operations: ["data/get"] } } as CardDeclaration)).card(),
    ).toMatchObject({
      capabilities: { operations: [] },
    });
  });
});

describe("B3.1 the name", () => {
  test.each([
    ["ENVIRONMENT_NAME", { ENVIRONMENT_NAME: "crm", SERVICE_NAME: "x" }, environmentCard({ name: "items" }), "crm"],
    ["the declared name", { ENVIRONMENT_NAME: "", SERVICE_NAME: "x" }, environmentCard({ name: "items" }), "items"],
    ["the class's name", { ENVIRONMENT_NAME: "" }, undefined, "Stock"],
  ])("is %s", (_what, variables, card, name) => {
    withVariables(variables);
    class Stock extends McpEnvironment {}
    expect(new Stock(card).card()["name"]).toBe(name);
  });

  test("an empty name is refused", () => {
    expect(() => environmentCard({ name: "" })).toThrow("environmentCard: name is empty");
  });
});

describe("what an author declares", () => {
  test("an interface of another transport stands beside the MCP one", () => {
    const declared = { url: "/grpc", transport: "grpc" };
    const env = new McpEnvironment(environmentCard({ name: "a", additionalInterfaces: [declared] }));
    expect(env.card()["additionalInterfaces"]).toEqual([{ url: "/mcp", transport: "mcp" }, declared]);
  });

  test.each(["mcp", "/mcp", "./tools/", "/deep/tools"])("an MCP interface at %j replaces it, and is served there", async (url) => {
    const additionalInterfaces = [{ url, transport: "mcp" }];
    const env = new McpEnvironment(environmentCard({ name: "a", additionalInterfaces }));
    expect(env.card()["additionalInterfaces"]).toEqual(additionalInterfaces);
    const client = await connected(await served(env), {}, url);
    expect((await client.listTools()).tools).toEqual([]);
  });

  test("tools and extensions win over derived ones, and the methods are served all the same", () => {
    const env = new McpEnvironment(
      environmentCard({
        name: "a",
        capabilities: {
          tools: [{ name: "add", description: "By hand." }],
          extensions: [{ uri: "urn:agentenv:intake/v1", params: { add: [{ part: "data", format: "json" }] } }],
        },
      }),
    )
      .tool("add", { description: "Derived.", run: () => null })
      .tool("list", { description: "Lists.", run: () => null });
    expect(env.card()["capabilities"]).toMatchObject({
      tools: [
        { name: "add", description: "By hand." },
        { name: "list", description: "Lists." },
      ],
      extensions: [{ uri: "urn:agentenv:intake/v1", params: { add: [{ part: "data", format: "json" }] } }],
    });
  });

  test("keys that the SDK doesn't know stay", () => {
    expect(new McpEnvironment(environmentCard({ name: "a", homepage: "https://a.example" })).card()["homepage"]).toBe("https://a.example");
  });
});
