import { randomUUID } from "node:crypto";
import { INTERNAL_ERROR, PROTOCOL_VERSION, RESOURCE_NOT_FOUND } from "@agent-env/protocol";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import { AgentEnvError, codedText } from "../agent-env-error.ts";
import { ANSWER_BUDGET_MS, type ClientLine, type LogLevel, MissingCapability } from "../client-line.ts";
import { callerOf, currentHeaders } from "../context.ts";
import { errorResult } from "../tool-result.ts";
import type { McpCall, McpContent } from "./content.ts";
import { InvalidParams, UnknownResource } from "./failure.ts";
import type { McpPackages } from "./packages.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** The server of one legacy session, and what the session's client wants to be told. */
export type LegacyServer = {
  readonly server: Server;
  /** Whether the client asked to be told when this resource changes. */
  watches(uri: string): boolean;
};

/** One MCP server of the legacy era, for one session. */
export function legacyServer(packages: McpPackages, content: McpContent): LegacyServer {
  const { types } = packages;
  const server = new packages.server.Server(
    { name: content.name, version: PROTOCOL_VERSION },
    { capabilities: content.capabilities(), jsonSchemaValidator: new packages.validation.CfWorkerJsonSchemaValidator() },
  );
  const watched = new Set<string>();
  // Until a client says which lines it wants, a server decides (MCP, logging): all but the finest.
  let level: LogLevel = "info";
  const callBy = (extra: Extra): McpCall => ({
    caller: callerOf(currentHeaders(), extra._meta),
    line: lineOf(packages, server, extra, () => level),
  });

  server.setRequestHandler(types.SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  server.setRequestHandler(types.ListToolsRequestSchema, ({ params }, extra) =>
    inLegacyWords(packages, async () => content.tools(params?.cursor, callerOf(currentHeaders(), extra._meta))),
  );
  server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) =>
    inLegacyWords(packages, async () => ({ ...(await callTool(content, params, callBy(extra))) })),
  );
  if (content.hasResources) {
    server.setRequestHandler(types.ListResourcesRequestSchema, ({ params }) =>
      inLegacyWords(packages, async () => content.resources(params?.cursor)),
    );
    server.setRequestHandler(types.ListResourceTemplatesRequestSchema, ({ params }) =>
      inLegacyWords(packages, async () => content.templates(params?.cursor)),
    );
    server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }, extra) =>
      inLegacyWords(packages, () => content.readResource(params.uri, callBy(extra))),
    );
    server.setRequestHandler(types.SubscribeRequestSchema, ({ params }) => {
      watched.add(params.uri);
      return {};
    });
    server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params }) => {
      watched.delete(params.uri);
      return {};
    });
  }
  if (content.hasPrompts) {
    server.setRequestHandler(types.ListPromptsRequestSchema, ({ params }) =>
      inLegacyWords(packages, async () => content.prompts(params?.cursor)),
    );
    server.setRequestHandler(types.GetPromptRequestSchema, ({ params }, extra) =>
      inLegacyWords(packages, async () => {
        const { messages, ...described } = await content.getPrompt(params.name, params.arguments ?? {}, callBy(extra));
        return { ...described, messages: [...messages] };
      }),
    );
  }
  if (content.hasResources || content.hasPrompts) {
    server.setRequestHandler(types.CompleteRequestSchema, ({ params }) => inLegacyWords(packages, () => content.complete(params)));
  }
  return { server, watches: (uri) => watched.has(uri) };
}

async function callTool(content: McpContent, params: { name: string; arguments?: Record<string, unknown> }, call: McpCall) {
  try {
    return await content.callTool(params.name, params.arguments ?? {}, call);
  } catch (thrown) {
    if (!(thrown instanceof MissingCapability)) throw thrown;
    return errorResult(`Error executing tool ${params.name}: ${thrown.message}`);
  }
}

/** Gives failures the codes that this era has for them. */
async function inLegacyWords<T>({ types }: McpPackages, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (thrown) {
    if (thrown instanceof InvalidParams) throw new types.McpError(thrown.code, thrown.message);
    if (thrown instanceof AgentEnvError) throw new types.McpError(INTERNAL_ERROR, codedText(thrown), thrown.fields);
    if (thrown instanceof UnknownResource) throw new types.McpError(RESOURCE_NOT_FOUND, thrown.message, { uri: thrown.uri });
    throw thrown;
  }
}

/** The client of a legacy call is asked by requests on the call's own stream. */
function lineOf({ types }: McpPackages, server: Server, extra: Extra, level: () => LogLevel): ClientLine {
  return {
    signal: extra.signal,
    capabilities: { ...server.getClientCapabilities() },
    progressToken: () => extra._meta?.progressToken,
    logLevel: level,
    notify: async (method, params) => await extra.sendNotification(types.ServerNotificationSchema.parse({ method, params })),
    async ask({ method, params }) {
      // Revision 2025-11-25 names a page by an id besides; later ones don't.
      const named = params["mode"] === "url" ? { ...params, elicitationId: randomUUID() } : params;
      const request = types.ServerRequestSchema.parse({ method, params: named });
      return await extra.sendRequest(request, types.ResultSchema, { timeout: ANSWER_BUDGET_MS, signal: extra.signal });
    },
  };
}
