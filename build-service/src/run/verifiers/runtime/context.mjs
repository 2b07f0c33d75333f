const CALL_TIMEOUT_MS = 600_000;

/**
 * The second argument of `verify(mcpUrl, ctx)`. `report` is told of every call that goes through it.
 * @param {{ mcpUrl: string, gatewayUrl: string | null, env: unknown, run: unknown }} request
 * @param {(call: { method: string, target: string, ok: boolean, ms: number }) => void} report
 */
export function verifierContext({ mcpUrl, gatewayUrl, env, run }, report) {
  let connected;
  const client = () => {
    connected ??= connect(mcpUrl);
    return connected;
  };

  async function reported(method, target, call, isOk = () => true) {
    const start = performance.now();
    let ok = false;
    try {
      const answer = await call();
      ok = isOk(answer);
      return answer;
    } finally {
      report({ method, target, ok, ms: Math.round(performance.now() - start) });
    }
  }

  return Object.freeze({
    run,
    env,

    /** All tools that the env lists. */
    async listTools() {
      const connection = await client();
      return reported("tools/list", new URL(mcpUrl).pathname, () => allTools(connection));
    },

    /** A tool's result as it came: `content`, `structuredContent`, `isError`. */
    async callTool(name, args = {}) {
      const [connection, { CallToolResultSchema }] = await Promise.all([client(), import("@modelcontextprotocol/sdk/types.js")]);
      // The client's own `callTool` throws for a failure whose fields aren't as the tool's output schema says.
      const request = { method: "tools/call", params: { name, arguments: args } };
      const call = () => connection.request(request, CallToolResultSchema, { timeout: CALL_TIMEOUT_MS });
      return reported("tools/call", name, call, (result) => result.isError !== true);
    },

    /** `fetch` with a path of the gateway: `/website/shop/`, `/svc/shop/api/orders`. */
    async fetch(path, options = {}) {
      if (gatewayUrl === null) throw new Error("ctx.fetch: this env is deployed without a gateway, only its tools can be called");
      const url = `${gatewayUrl.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
      return reported(
        options.method ?? "GET",
        path,
        () => fetch(url, options),
        (response) => response.ok,
      );
    },
  });
}

async function connect(mcpUrl) {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const client = new Client({ name: "agent-env-verifier", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)));
  return client;
}

async function allTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}
