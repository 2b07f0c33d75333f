/** The names of all tools that the MCP server at `url` lists, repeats kept. Rejects when it can't be asked. */
export async function toolNames(url: string, signal: AbortSignal): Promise<string[]> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const client = new Client({ name: "agent-env-deploy", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  try {
    await client.connect(transport, { signal });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { signal });
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    await transport.terminateSession();
    return names;
  } finally {
    await client.close();
  }
}
