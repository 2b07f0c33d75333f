import { issuesText } from "@agent-env/protocol";
import { z } from "zod";
import { AuthorError } from "./author-error.ts";
import { type Complete, type Completions, checkCompletions } from "./completion.ts";
import type { ToolContext } from "./context.ts";
import { convertParams } from "./convert.ts";
import { checkHandler } from "./handlers.ts";
import { paramsSchema } from "./json-schema.ts";
import { InvalidParams } from "./mcp/failure.ts";
import { checkOptions, type OptionNames } from "./options.ts";
import { servedName } from "./served-name.ts";
import type { ToolContent } from "./tool-result.ts";

type NoInput = Record<never, never>;

/** One message of a prompt. */
export type PromptMessage = { readonly role: "user" | "assistant"; readonly content: ToolContent };

export type PromptDefinition<Input extends z.ZodRawShape = NoInput> = {
  readonly title?: string;
  readonly description: string;
  /** The arguments, one schema each. MCP sends texts: they are converted to numbers, booleans and times where those are declared. */
  readonly input?: Input;
  /** Values to propose for an argument that is being typed. */
  readonly complete?: { readonly [Name in keyof Input]?: Complete };
  /** Returns the messages; a text is one message of the user's. */
  readonly run: (args: z.output<z.ZodObject<Input>>, context: ToolContext) => Messages | Promise<Messages>;
};
type Messages = string | readonly PromptMessage[];

const PROMPT_OPTIONS: OptionNames<PromptDefinition> = { title: true, description: true, input: true, complete: true, run: true };

/** A prompt as `prompts/list` shows it. */
export type ListedPrompt = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
};
export type PromptBody = { readonly description: string; readonly messages: readonly PromptMessage[] };

type Prompt = {
  readonly listed: ListedPrompt;
  readonly complete: Completions | undefined;
  readonly get: (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<PromptBody>;
};

/** The prompts of one environment, in the order in which they were added. */
export class Prompts {
  readonly #environment: string;
  readonly #prompts = new Map<string, Prompt>();

  constructor(environment: string) {
    this.#environment = environment;
  }

  get size(): number {
    return this.#prompts.size;
  }

  /** `{environment_name}` in the name becomes the environment's. Throws an `AuthorError` for one that can't be served. */
  add<Input extends z.ZodRawShape>(named: string, definition: PromptDefinition<Input>): void {
    const name = servedName("prompt", named, this.#environment);
    if (this.#prompts.has(name)) {
      throw new AuthorError({
        what: `prompt ${JSON.stringify(name)} is there twice`,
        why: "prompts of an environment have distinct names",
        next: "rename one of them",
      });
    }
    const what = `prompt ${JSON.stringify(name)}`;
    checkOptions(what, definition, PROMPT_OPTIONS);
    checkHandler(what, definition);
    checkCompletions(what, Object.keys(definition.input ?? {}), definition.complete);
    this.#prompts.set(name, { listed: listedPrompt(name, definition), complete: definition.complete, get: getterOf(definition) });
  }

  list(): ListedPrompt[] {
    return [...this.#prompts.values()].map(({ listed }) => listed);
  }

  /** What is proposed for a prompt's arguments. Throws `InvalidParams` for an unknown prompt. */
  completions(name: string): Completions | undefined {
    return this.#named(name).complete;
  }

  /** The messages of a prompt. Throws `InvalidParams` for an unknown prompt, and for arguments that aren't as it takes them. */
  async get(name: string, args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<PromptBody> {
    return await this.#named(name).get(args, context);
  }

  #named(name: string): Prompt {
    const prompt = this.#prompts.get(name);
    if (prompt === undefined) throw new InvalidParams(`Unknown prompt: ${name}`);
    return prompt;
  }
}

function listedPrompt<Input extends z.ZodRawShape>(name: string, definition: PromptDefinition<Input>): ListedPrompt {
  const { title, description, input = {} } = definition;
  const { properties, required = [] } = Params.parse(paramsSchema(`prompt ${JSON.stringify(name)}`, z.object(input)));
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    arguments: Object.entries(properties).map(([argument, { description: about }]) => ({
      name: argument,
      ...(about === undefined ? {} : { description: about }),
      required: required.includes(argument),
    })),
  };
}

/** What a prompt lists of the schema of its arguments. */
const Params = z.object({
  properties: z.record(z.string(), z.object({ description: z.string().optional() })),
  required: z.array(z.string()).optional(),
});

function getterOf<Input extends z.ZodRawShape>(definition: PromptDefinition<Input>): Prompt["get"] {
  const shape = definition.input ?? ({} as Input);
  const { description } = definition;
  return async (args, context) => {
    const read = await z.object(shape).safeParseAsync(convertParams(shape, args));
    if (!read.success) throw new InvalidParams(issuesText(read.error));
    const returned = await definition.run(read.data, context);
    const messages: readonly PromptMessage[] =
      typeof returned === "string" ? [{ role: "user", content: { type: "text", text: returned } }] : returned;
    return { description, messages };
  };
}
