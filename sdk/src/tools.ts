import { randomUUID } from "node:crypto";
import { DEFAULT_ROLE, HIDDEN_META_KEY, issuesText } from "@agent-env/protocol";
import { z } from "zod";
import { AgentEnvError, codedText, thrownText } from "./agent-env-error.ts";
import { AuthorError } from "./author-error.ts";
import { whileSpeaking } from "./call-client.ts";
import { type ClientLine, MissingCapability } from "./client-line.ts";
import { type Caller, type ToolContext, withContext } from "./context.ts";
import { checkHandler } from "./handlers.ts";
import { type JsonSchema, toolSchema } from "./json-schema.ts";
import { checkOptions, type OptionNames } from "./options.ts";
import { servedName } from "./served-name.ts";
import type { ToolAccess } from "./tool-access.ts";
import { errorResult, plainResult, structuredResult, ToolResult, type ToolResultBody } from "./tool-result.ts";

/** Hints of MCP about a tool; the gateway retries by `readOnlyHint` and `idempotentHint`. */
export type ToolAnnotations = {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
};

type NoInput = Record<never, never>;

export type ToolDefinition<Input extends z.ZodRawShape = NoInput, Output extends z.ZodType = z.ZodType<unknown>> = {
  readonly title?: string;
  readonly description: string;
  /** The arguments, one schema each. */
  readonly input?: Input;
  /** With it the tool lists an output schema and answers structured content; what is no object is wrapped as `{result}`. */
  readonly output?: Output;
  readonly annotations?: ToolAnnotations;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Listed, but disabled at the gateway until a rule enables it by name. */
  readonly hiddenByDefault?: boolean;
  /** Returns text, a value that JSON has, nothing, or a `ToolResult`. */
  readonly run: (args: z.output<z.ZodObject<Input>>, context: ToolContext) => Returned<z.input<Output>>;
};
type Returned<T> = T | ToolResult | Promise<T | ToolResult>;

const TOOL_OPTIONS: OptionNames<ToolDefinition> = {
  title: true,
  description: true,
  input: true,
  output: true,
  annotations: true,
  meta: true,
  hiddenByDefault: true,
  run: true,
};
const ANNOTATIONS: OptionNames<ToolAnnotations> = {
  title: true,
  readOnlyHint: true,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
};

/** A tool as `tools/list` shows it. */
export type ListedTool = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** Runs before each call of a known tool. Null lets the call go on; a complete result answers instead. */
export type OnToolCall = (context: ToolContext) => MaybePromise<ToolResultBody | ToolResult | null | undefined>;
type MaybePromise<T> = T | Promise<T>;

/** The tools of one environment, in the order in which they were added. */
export class Tools {
  readonly #environment: string;
  readonly #tools = new Map<string, { listed: ListedTool; call: Call }>();
  #hook: OnToolCall | undefined;
  #access: ToolAccess | undefined;

  constructor(environment: string) {
    this.#environment = environment;
  }

  get size(): number {
    return this.#tools.size;
  }

  list(): ListedTool[] {
    return [...this.#tools.values()].map(({ listed }) => listed);
  }

  /** What a caller of that role sees. */
  listFor(role: string | null): ListedTool[] {
    return this.list().filter((tool) => this.#access?.allows(role, tool) ?? true);
  }

  /** Keeps to what the roles may use from now on. */
  guard(access: ToolAccess): void {
    this.#access = access;
  }

  /** `{environment_name}` in the name becomes the environment's. Throws an `AuthorError` for a name that can't be served. */
  add<Input extends z.ZodRawShape, Output extends z.ZodType>(named: string, definition: ToolDefinition<Input, Output>): void {
    const name = servedName("tool", named, this.#environment);
    if (this.#tools.has(name)) {
      throw new AuthorError({
        what: `tool ${JSON.stringify(name)} is there twice`,
        why: "tools of an environment have distinct names",
        next: "rename one of them",
      });
    }
    const what = `tool ${JSON.stringify(name)}`;
    checkOptions(what, definition, TOOL_OPTIONS);
    checkOptions(`${what}, annotations`, definition.annotations ?? {}, ANNOTATIONS);
    checkHandler(what, definition);
    this.#tools.set(name, { listed: listedTool(name, definition), call: callOf(definition) });
  }

  /** Changes what a tool says about itself. Throws if there is no such tool. */
  describe(named: string, description: string): void {
    const name = servedName("tool", named, this.#environment);
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      throw new AuthorError({
        what: `tool ${JSON.stringify(name)} can't be described`,
        why:
          this.size === 0
            ? "there is no tool yet"
            : `the tools are ${[...this.#tools.keys()].map((known) => JSON.stringify(known)).join(", ")}`,
        next: "name one of these, or add it first",
      });
    }
    tool.listed = { ...tool.listed, description };
  }

  onCall(hook: OnToolCall): void {
    if (this.#hook !== undefined) {
      throw new AuthorError({
        what: "onToolCall is set already",
        why: "an environment has one hook, so that it is plain which answers",
        next: "do both in one function",
      });
    }
    this.#hook = hook;
  }

  /** Answers a call. Whatever goes wrong is a result with `isError`; only a `MissingCapability` is thrown. */
  async call(name: string, args: Readonly<Record<string, unknown>>, caller: Caller, line: ClientLine): Promise<ToolResultBody> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return errorResult(`Unknown tool: ${name}`);
    if (this.#access?.allows(caller.role, tool.listed) === false) return denied(name, caller.role ?? DEFAULT_ROLE);
    const given = Object.freeze({ ...args });
    const callId = randomUUID().replaceAll("-", "");
    try {
      return await whileSpeaking(line, async (client) => {
        const context: ToolContext = { caller, tool: name, arguments: given, callId, signal: line.signal, client };
        return await withContext(context, async () => (await this.#hookAnswer(context)) ?? (await tool.call(given, context)));
      });
    } catch (thrown) {
      if (thrown instanceof MissingCapability) throw thrown;
      if (thrown instanceof AgentEnvError) return errorResult(codedText(thrown), thrown.fields);
      if (!(thrown instanceof BadArguments)) console.error(`tool ${name} failed:`, thrown);
      return errorResult(`Error executing tool ${name}: ${thrownText(thrown)}`);
    }
  }

  async #hookAnswer(context: ToolContext): Promise<ToolResultBody | null> {
    const answer = await this.#hook?.(context);
    if (answer === null || answer === undefined) return null;
    const body: unknown = answer instanceof ToolResult ? answer.body : answer;
    if (!isToolResultBody(body)) throw new Error("onToolCall answered neither null nor a complete call result");
    return body;
  }
}

function denied(name: string, role: string): ToolResultBody {
  const error = new AgentEnvError("permission_denied", `Tool '${name}' is disabled for role '${role}'`);
  return errorResult(codedText(error), error.fields);
}

type Call = (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<ToolResultBody>;
class BadArguments extends Error {}

function callOf<Input extends z.ZodRawShape, Output extends z.ZodType>(definition: ToolDefinition<Input, Output>): Call {
  const input = z.object(definition.input ?? ({} as Input));
  const { output } = definition;
  return async (args, context) => {
    const read = await input.safeParseAsync(args);
    if (!read.success) throw new BadArguments(issuesText(read.error));
    const returned = await definition.run(read.data, context);
    if (returned instanceof ToolResult) return returned.body;
    if (output === undefined) return plainResult(returned);
    const checked = await output.safeParseAsync(returned);
    if (!checked.success) throw new Error(`the result isn't as its output schema says: ${issuesText(checked.error)}`);
    return structuredResult(checked.data, isObjectSchema(output));
  };
}

function listedTool<Input extends z.ZodRawShape, Output extends z.ZodType>(
  name: string,
  definition: ToolDefinition<Input, Output>,
): ListedTool {
  const { title, description, input = {}, output, annotations, meta, hiddenByDefault = false } = definition;
  const what = `tool ${JSON.stringify(name)}`;
  const _meta = hiddenByDefault ? { ...meta, [HIDDEN_META_KEY]: true } : meta;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: toolSchema(what, z.object(input), "input"),
    ...(output === undefined
      ? {}
      : { outputSchema: toolSchema(what, isObjectSchema(output) ? output : z.object({ result: output }), "output") }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

const isObjectSchema = (schema: z.ZodType): boolean => schema instanceof z.ZodObject || schema instanceof z.ZodRecord;

function isToolResultBody(value: unknown): value is ToolResultBody {
  return typeof value === "object" && value !== null && "content" in value && Array.isArray(value.content);
}
