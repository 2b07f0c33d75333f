import { PROTOCOL_VERSION } from "@agent-env/protocol";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { callerOf, currentHeaders, toolContext, withContext } from "../context.ts";
import type { Resources } from "../resources.ts";
import type { Tools } from "../tools.ts";
import type { McpPackages } from "./packages.ts";

/** What an MCP endpoint serves. */
export type McpContent = { readonly name: string; readonly tools: Tools; readonly resources: Resources };

/** One MCP server, for one session. */
export function mcpServer({ server, types, validation }: McpPackages, { name, tools, resources }: McpContent): Server {
  const mcp = new server.Server(
    { name, version: PROTOCOL_VERSION },
    {
      capabilities: { tools: { listChanged: true }, ...(resources.size === 0 ? {} : { resources: {} }) },
      jsonSchemaValidator: new validation.CfWorkerJsonSchemaValidator(),
    },
  );
  mcp.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: tools.list() }));
  mcp.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const answer = await tools.call(params.name, params.arguments ?? {}, callerOf(currentHeaders(), params._meta));
    return { ...answer };
  });
  if (resources.size === 0) return mcp;

  mcp.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources: resources.list() }));
  mcp.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  mcp.setRequestHandler(types.ReadResourceRequestSchema, async ({ params }) => {
    const caller = callerOf(currentHeaders(), params._meta);
    const contents = await withContext({ ...toolContext(), caller }, () => resources.read(params.uri));
    // -32002 is MCP's code for an unknown resource; the SDK has no name for it.
    if (contents === undefined) throw new types.McpError(-32002, `Resource not found: ${params.uri}`, { uri: params.uri });
    return { contents: [contents] };
  });
  return mcp;
}
