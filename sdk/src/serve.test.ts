import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { clientOf, ERAS } from "../../test/fixtures/sdk/clients.ts";
import { imageFolder, program, said } from "../../test/fixtures/sdk/programs.ts";
import { connected, withVariables } from "../../test/fixtures/sdk/serving.ts";
import { environmentCard } from "./card.ts";
import { McpEnvironment } from "./mcp-environment.ts";
import { WebsiteEnvironment } from "./website-environment.ts";

beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());

const SLOW = `
import { environmentCard, McpEnvironment } from "@agent-env/sdk";
const env = new McpEnvironment(environmentCard({ name: "slow" }));
env.tool("work", { description: "Works.", async run() {
  console.log("working");
  await new Promise((resolve) => setTimeout(resolve, 300));
  return "done";
} });
await env.serve();
`;

describe("where it listens", () => {
  test("an MCP environment at MCP_HOST and MCP_PORT, a website at HOST and PORT", async () => {
    withVariables({ MCP_HOST: "127.0.0.1", MCP_PORT: "0", HOST: "127.0.0.1", PORT: "0" });
    for (const env of [new McpEnvironment(environmentCard({ name: "a" })), new WebsiteEnvironment(environmentCard({ name: "b" }))]) {
      const { url, port, close } = await env.serve();
      onTestFinished(close);
      expect(url).toBe(`http://127.0.0.1:${port}`);
      expect((await fetch(`${url}/ready`)).status).toBe(200);
    }
  });

  test("on :: it answers IPv4 and IPv6", async () => {
    const { port, close } = await new WebsiteEnvironment(environmentCard({ name: "a" })).serve({ host: "::", port: 0 });
    onTestFinished(close);
    for (const host of ["127.0.0.1", "[::1]"]) expect((await fetch(`http://${host}:${port}/ready`)).status).toBe(200);
  });

  test("a port that is taken is one clear error", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await expect(new WebsiteEnvironment(environmentCard({ name: "shop" })).serve({ host: "127.0.0.1", port })).rejects.toMatchObject({
      message: `shop can't listen on 127.0.0.1:${port}`,
      why: "another process has that port",
      next: "end it, or set another port",
    });
  });

  test.each(["eighty", "-1", "65536", "1.5"])("PORT=%s is refused", async (PORT) => {
    withVariables({ PORT });
    await expect(new WebsiteEnvironment(environmentCard({ name: "shop" })).serve()).rejects.toThrow(`PORT="${PORT}" is no port`);
  });
});

test("SIGTERM: a call in flight is answered, waiting streams end, and the process exits with 0", async () => {
  const server = program("server.ts", await imageFolder("bundle", { "server.ts": SLOW }), { MCP_HOST: "127.0.0.1", MCP_PORT: "0" });
  const [, url = ""] = await said(server, /listens on (\S+)/);
  const client = await connected(url);
  const call = client.callTool({ name: "work" });
  await said(server, /working/);
  server.child.kill("SIGTERM");
  expect(await call).toMatchObject({ content: [{ type: "text", text: "done" }] });
  expect(await server.exit).toBe(0);
});

test.each(ERAS)("a client of the %s era that waits for notifications doesn't hold up close()", async (era) => {
  const { url, close } = await new McpEnvironment(environmentCard({ name: "a" })).serve({ host: "127.0.0.1", port: 0 });
  const client = await clientOf(url, era);
  if (era === "modern") await client.listen({ toolsListChanged: true });
  const begun = performance.now();
  await close();
  // After five seconds connections are cut.
  expect(performance.now() - begun).toBeLessThan(4_000);
});
