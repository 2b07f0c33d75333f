import { randomUUID } from "node:crypto";
import { serve } from "@hono/node-server";
import { createMcpHandler, isLegacyRequest, McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { z } from "zod";
import { catalogue, echoed } from "./catalogue.ts";

/**
 * What someone without our SDK would write: Hono with the same page, and the official MCP package with the same tool, in both
 * eras, the legacy one with sessions. `node bare.ts PORT`
 */
function mcpServer(): McpServer {
  const server = new McpServer({ name: "shop", version: "1" });
  const definition = { description: "Says it again.", inputSchema: z.object({ message: z.string() }) };
  server.registerTool("echo", definition, ({ message }) => ({ content: [{ type: "text", text: echoed(message) }] }));
  return server;
}

const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();

async function legacy(request: Request): Promise<Response> {
  const id = request.headers.get("mcp-session-id");
  const known = id === null ? undefined : transports.get(id);
  if (known !== undefined) return await known.handleRequest(request);
  if (id !== null) return new Response(null, { status: 404 });
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (session) => void transports.set(session, transport),
  });
  await mcpServer().connect(transport);
  return await transport.handleRequest(request);
}

const modern = createMcpHandler(mcpServer, { legacy: "reject" });
const app = new Hono();
app.get("/", (c) => c.html(catalogue()));
app.all("/mcp", async ({ req: { raw } }) => ((await isLegacyRequest(raw)) ? await legacy(raw) : await modern.fetch(raw)));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.argv[2]) });
