import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { removeNodeBundle, startNodeHost } from "../fixtures/gateway/node-host.ts";

/**
 * A client of the official suite's own servers, by way of the gateway: what the suite checks is the gateway's upstream leg.
 * The suite gives the server's address as the last argument, the scenario and its context by variables.
 */
async function drive(serverUrl: string): Promise<void> {
  const url = new URL(serverUrl);
  const server = { name: "suite", kind: "mcp" as const, url: url.origin, mcp_url: url.href };
  const gateway = await startNodeHost({ record: { servers: [server] } });
  try {
    const isModern = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28";
    const client = new Client(
      { name: "driver", version: "1" },
      {
        capabilities: { elicitation: { form: { applyDefaults: true } } },
        versionNegotiation: { mode: isModern ? { pin: "2026-07-28" } : "legacy" },
      },
    );
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.base}/mcp`)));
    const { tools } = await client.listTools();
    for (const { name, arguments: args } of callsFor(tools.map((tool) => tool.name))) await client.callTool({ name, arguments: args });
    const can = client.getServerCapabilities();
    if (can?.resources !== undefined) for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
    if (can?.prompts !== undefined) for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
    await client.close();
  } finally {
    await gateway.stop();
    await removeNodeBundle();
  }
}

type Call = { name: string; arguments: Record<string, unknown> };

/** The calls that the scenario asks for; without such, each tool is called once. */
function callsFor(names: readonly string[]): Call[] {
  const context: { toolCalls?: Call[] } = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
  return context.toolCalls ?? names.map((name) => ({ name, arguments: name === "add_numbers" ? { a: 5, b: 3 } : {} }));
}

await drive(process.argv.at(-1) ?? "");
