const TOOLS = [
  { name: "echo", inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] } },
  // for roles that may not use every tool
  { name: "secret", inputSchema: { type: "object" } },
];
const VERSION = "2025-11-25";

type Request = {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly message?: unknown } };
};

/** The answer of an MCP server whose one use is to say what it was told; null for what gets none. */
export function echoAnswer({ id, method, params }: Request): string | null {
  if (id === undefined) return null;
  const said = (result: object): string => JSON.stringify({ jsonrpc: "2.0", id, result });
  if (method === "tools/call") return said({ content: [{ type: "text", text: `Echo: ${String(params?.arguments?.message)}` }] });
  if (method === "tools/list") return said({ tools: TOOLS });
  if (method === "initialize")
    return said({ protocolVersion: VERSION, capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } });
  if (method === "ping") return said({});
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "method not found" } });
}
