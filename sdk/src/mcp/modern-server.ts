import { INTERNAL_ERROR, isJsonObject, LOG_LEVEL_META_KEY, LOG_LEVELS, PROTOCOL_VERSION, SESSION_META_KEY } from "@agent-env/protocol";
import type { InputRequiredResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { AgentEnvError, codedText } from "../agent-env-error.ts";
import { type ClientLine, MissingCapability, type Question } from "../client-line.ts";
import { type Caller, callerOf, currentHeaders } from "../context.ts";
import type { PromptBody } from "../prompts.ts";
import type { ResourceContents } from "../resources.ts";
import type { ToolResultBody } from "../tool-result.ts";
import type { McpCall, McpContent } from "./content.ts";
import { InvalidParams, UnknownResource } from "./failure.ts";
import { type Exchange, HeldCalls, type Outcome } from "./held-calls.ts";
import type { McpPackages } from "./packages.ts";

/** What may ask its client, by method: the calls that wait for an answer. They outlive the requests. */
export class ModernCalls {
  readonly tools = new HeldCalls<ToolResultBody>();
  readonly resources = new HeldCalls<{ contents: ResourceContents[] }>();
  readonly prompts = new HeldCalls<PromptBody>();
}

/** One MCP server of the modern era, for one request. */
export function modernServer(packages: McpPackages, content: McpContent, calls: ModernCalls): McpServer {
  const { modern } = packages;
  const product = new modern.McpServer({ name: content.name, version: PROTOCOL_VERSION }, { capabilities: content.capabilities() });
  const { server } = product;
  const { isSpecType } = modern;
  const words = <T>(answer: () => T | Promise<T>) => inModernWords(packages, answer);
  // The package compares `Mcp-Param-…` with the arguments of tools that it knows itself.
  for (const { name, inputSchema } of content.allTools) {
    if (JSON.stringify(inputSchema).includes('"x-mcp-header"')) {
      product.registerTool(name, { inputSchema: modern.fromJsonSchema({ ...inputSchema }) }, () => ({ content: [] }));
    }
  }

  server.setRequestHandler("tools/list", ({ params }, context) =>
    words(() => inMcp(isSpecType.ListToolsResult, content.tools(params?.cursor, callerIn(context)))),
  );
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args = {} } }, context) =>
    words(async () => {
      const outcome = await take(calls.tools, { name, args }, context, (call) => content.callTool(name, args, call));
      return "result" in outcome ? inMcp(modern.isCallToolResult, outcome.result) : questions(packages, outcome);
    }),
  );
  if (content.hasResources) {
    server.setRequestHandler("resources/list", ({ params }) => words(() => content.resources(params?.cursor)));
    server.setRequestHandler("resources/templates/list", ({ params }) => words(() => content.templates(params?.cursor)));
    server.setRequestHandler("resources/read", ({ params: { uri } }, context) =>
      words(async () => {
        const outcome = await take(calls.resources, { uri }, context, (call) => content.readResource(uri, call));
        return "result" in outcome ? outcome.result : questions(packages, outcome);
      }),
    );
  }
  if (content.hasPrompts) {
    server.setRequestHandler("prompts/list", ({ params }) =>
      words(() => inMcp(isSpecType.ListPromptsResult, content.prompts(params?.cursor))),
    );
    server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, context) =>
      words(async () => {
        const outcome = await take(calls.prompts, { name, args }, context, (call) => content.getPrompt(name, args, call));
        return "result" in outcome ? inMcp(isSpecType.GetPromptResult, outcome.result) : questions(packages, outcome);
      }),
    );
  }
  if (content.hasResources || content.hasPrompts) {
    server.setRequestHandler("completion/complete", ({ params }) => words(() => content.complete(params)));
  }
  return product;
}

/** Begins a call, or goes on with the one whose questions this request answers. */
async function take<T>(
  held: HeldCalls<T>,
  asked: object,
  context: ServerContext,
  work: (call: McpCall) => Promise<T>,
): Promise<Outcome<T>> {
  const { method, requestState, inputResponses = {} } = context.mcpReq;
  const caller = callerIn(context);
  const turn = { asked: [method, caller, asked], state: requestState<string>(), responses: inputResponses };
  return await held.take(turn, exchangeOf(context), (line: ClientLine) => work({ caller, line }));
}

/** As in the legacy era, but that there are no sessions: a session id in a header means nothing. */
function callerIn({ mcpReq }: ServerContext): Caller {
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  const { role, session } = callerOf(currentHeaders(), meta);
  return { role, session: meta[SESSION_META_KEY] === session ? session : null };
}

function exchangeOf({ mcpReq }: ServerContext): Exchange {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const capabilities = envelope["io.modelcontextprotocol/clientCapabilities"];
  return {
    signal: mcpReq.signal,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    progressToken: mcpReq._meta?.progressToken,
    logLevel: LOG_LEVELS.find((level) => level === envelope[LOG_LEVEL_META_KEY]),
    notify: async (method, params) => await mcpReq.notify({ method, params }),
  };
}

function questions(
  { modern }: McpPackages,
  { questions: asked, state }: { readonly questions: ReadonlyMap<string, Question>; readonly state: string },
): InputRequiredResult {
  const { ElicitRequest, CreateMessageRequest, ListRootsRequest } = modern.isSpecType;
  const isQuestion = (value: unknown) => ElicitRequest(value) || CreateMessageRequest(value) || ListRootsRequest(value);
  const requests = [...asked].map(([key, { method, params }]) => {
    const { mode, message, url } = params;
    // The package's own check wants the id that revision 2025-11-25 has for a page; this era has none.
    const isPage = mode === "url" && typeof message === "string" && typeof url === "string";
    return [key, isPage ? modern.inputRequired.elicitUrl({ message, url }) : inMcp(isQuestion, { method, params })] as const;
  });
  return modern.inputRequired({ inputRequests: Object.fromEntries(requests), requestState: state });
}

/** A value that goes out, as MCP describes it. What authors return without types may be something else. */
function inMcp<T>(is: (value: unknown) => value is T, value: unknown): T {
  if (!is(value)) throw new Error(`MCP has no words for what was to be answered: ${JSON.stringify(value)}`);
  return value;
}

/** Gives failures the codes that this era has for them. */
async function inModernWords<T>({ modern }: McpPackages, answer: () => T | Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (thrown) {
    if (thrown instanceof InvalidParams) throw new modern.ProtocolError(thrown.code, thrown.message);
    if (thrown instanceof AgentEnvError) throw new modern.ProtocolError(INTERNAL_ERROR, codedText(thrown), thrown.fields);
    if (thrown instanceof UnknownResource) throw new modern.ResourceNotFoundError(thrown.uri, thrown.message);
    if (thrown instanceof MissingCapability) {
      throw new modern.MissingRequiredClientCapabilityError({ requiredCapabilities: thrown.required }, thrown.message);
    }
    throw thrown;
  }
}
