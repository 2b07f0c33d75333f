import { whileSpeaking } from "../call-client.ts";
import type { ClientLine } from "../client-line.ts";
import { completion } from "../completion.ts";
import { type Caller, toolContext, withContext } from "../context.ts";
import type { PromptBody, Prompts } from "../prompts.ts";
import type { ResourceContents, Resources } from "../resources.ts";
import type { ToolResultBody } from "../tool-result.ts";
import type { ListedTool, Tools } from "../tools.ts";
import { InvalidParams } from "./failure.ts";

/** Who makes an MCP request, and how the client that sent it is reached. */
export type McpCall = { readonly caller: Caller; readonly line: ClientLine };

type Arguments = Readonly<Record<string, unknown>>;
type CompletionRequest = {
  readonly ref: { readonly type: "ref/prompt"; readonly name: string } | { readonly type: "ref/resource"; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
};

/** What an environment answers to the methods of MCP, in either era. The eras put it into their own words. */
export class McpContent {
  readonly name: string;
  readonly #tools: Tools;
  readonly #resources: Resources;
  readonly #prompts: Prompts;

  constructor(name: string, parts: { readonly tools: Tools; readonly resources: Resources; readonly prompts: Prompts }) {
    this.name = name;
    this.#tools = parts.tools;
    this.#resources = parts.resources;
    this.#prompts = parts.prompts;
  }

  /** All tools, whoever may use them. */
  get allTools(): readonly ListedTool[] {
    return this.#tools.list();
  }

  get hasResources(): boolean {
    return this.#resources.size > 0;
  }

  get hasPrompts(): boolean {
    return this.#prompts.size > 0;
  }

  /** What it declares that it serves. */
  capabilities() {
    const { hasResources, hasPrompts } = this;
    return {
      logging: {},
      tools: { listChanged: true },
      ...(hasResources ? { resources: { subscribe: true, listChanged: false } } : {}),
      ...(hasPrompts ? { prompts: { listChanged: false } } : {}),
      ...(hasResources || hasPrompts ? { completions: {} } : {}),
    };
  }

  // The lists go out as one page each: a cursor is one that was never handed out.
  tools(cursor: string | undefined, { role }: Caller) {
    return { tools: onlyPage(cursor, this.#tools.listFor(role)) };
  }

  resources(cursor: string | undefined) {
    return { resources: onlyPage(cursor, this.#resources.list()) };
  }

  templates(cursor: string | undefined) {
    return { resourceTemplates: onlyPage(cursor, this.#resources.templates()) };
  }

  prompts(cursor: string | undefined) {
    return { prompts: onlyPage(cursor, this.#prompts.list()) };
  }

  /** Never fails but by `MissingCapability`: what goes wrong is in the result. */
  async callTool(name: string, args: Arguments, { caller, line }: McpCall): Promise<ToolResultBody> {
    return await this.#tools.call(name, args, caller, line);
  }

  async readResource(uri: string, call: McpCall): Promise<{ contents: ResourceContents[] }> {
    return { contents: [await within(call, (context) => this.#resources.read(uri, context))] };
  }

  async getPrompt(name: string, args: Arguments, call: McpCall): Promise<PromptBody> {
    return await within(call, (context) => this.#prompts.get(name, args, context));
  }

  async complete({ ref, argument, context }: CompletionRequest) {
    const offered = ref.type === "ref/prompt" ? this.#prompts.completions(ref.name) : this.#resources.completions(ref.uri);
    return { completion: await completion(offered, argument.name, argument.value, context?.arguments ?? {}) };
  }
}

/** Runs what is no tool call as the caller's, with its client at hand. */
async function within<T>({ caller, line }: McpCall, answer: (context: ReturnType<typeof toolContext>) => Promise<T>): Promise<T> {
  return await whileSpeaking(line, async (client) => {
    const context = { ...toolContext(), caller, signal: line.signal, client };
    return await withContext(context, () => answer(context));
  });
}

function onlyPage<T>(cursor: string | undefined, items: T[]): T[] {
  if (cursor !== undefined) throw new InvalidParams(`Unknown cursor: ${JSON.stringify(cursor)}`);
  return items;
}
