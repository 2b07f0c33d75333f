import { describe, expect, test } from "vitest";
import { imageFolder, MCP_PACKAGES, program, said } from "../../../test/fixtures/sdk/programs.ts";
import { connected } from "../../../test/fixtures/sdk/serving.ts";

const SITE = `
import { environmentCard, html, WebsiteEnvironment } from "@agent-env/sdk";
const site = new WebsiteEnvironment(environmentCard({ name: "notes" }));
site.page("/", () => html\`<p>notes</p>\`);
`;
const TOOL = `site.tool("add", { description: "Adds.", run: () => "added" });`;
const SERVE = `await site.serve();`;
const PLACE = { HOST: "127.0.0.1", PORT: "0" };

describe("W1.3 where the MCP packages are not installed", () => {
  const withoutPackages = (files: Record<string, string>) =>
    imageFolder(
      "index",
      files,
      MCP_PACKAGES.flatMap((name) => [name, `${name}/*`]),
    );

  test("a site without tools runs", async () => {
    const folder = await withoutPackages({ "server.ts": SITE + SERVE });
    const [, url = ""] = await said(program("server.ts", folder, PLACE), /listens on (\S+)/);
    expect(await (await fetch(url)).text()).toBe("<p>notes</p>");
    expect((await fetch(`${url}/mcp`, { method: "POST" })).status).toBe(404);
    expect(await (await fetch(`${url}/.well-known/agent-env.json`)).json()).toMatchObject({ name: "notes", additionalInterfaces: [] });
  });

  test.each([
    [
      "a tool",
      SITE + TOOL + SERVE,
      'tool "add" of notes needs @modelcontextprotocol/sdk, @modelcontextprotocol/server, and @cfworker/json-schema',
    ],
    [
      "an MCP environment",
      'import { environmentCard, McpEnvironment } from "@agent-env/sdk"; new McpEnvironment(environmentCard({ name: "items" }));',
      "environment items needs @modelcontextprotocol/sdk, @modelcontextprotocol/server, and @cfworker/json-schema",
    ],
  ])("construction of %s fails, naming the packages", async (_what, source, message) => {
    const server = program("server.ts", await withoutPackages({ "server.ts": source }), PLACE);
    expect(await server.exit).toBe(1);
    expect(server.output()).toContain(message);
  });
});

test("the bundled SDK has the MCP packages inside", async () => {
  const folder = await imageFolder("bundle", { "server.ts": SITE + TOOL + SERVE });
  const [, url = ""] = await said(program("server.ts", folder, PLACE), /listens on (\S+)/);
  const client = await connected(url);
  expect(await client.callTool({ name: "add" })).toEqual({ content: [{ type: "text", text: "added" }], isError: false });
});
