import { issuesText } from "@agent-env/protocol";
import { z } from "zod";
import { AgentEnvError, type Applied, type ErrorFields, thrownText } from "./agent-env-error.ts";
import { AuthorError } from "./author-error.ts";
import type { CardExtension } from "./card.ts";
import { type ToolContext, toolContext } from "./context.ts";
import { convertParams } from "./convert.ts";
import { checkHandler } from "./handlers.ts";
import { paramsSchema } from "./json-schema.ts";
import { checkOptions, type OptionNames } from "./options.ts";

type NoInput = Record<never, never>;

/** One method of an extension. */
export type ExtensionMethod<Input extends z.ZodRawShape = NoInput> = {
  readonly description?: string;
  /** Verb; `POST` if left out. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Route; `/agentenv/ext/…` if left out. */
  readonly path?: string;
  /** The params, one schema each. Strings are converted to numbers, booleans and times where those are declared. */
  readonly input?: Input;
  readonly run: (params: z.output<z.ZodObject<Input>>, context: ToolContext) => unknown;
};

const METHOD_OPTIONS: OptionNames<ExtensionMethod> = { description: true, method: true, path: true, input: true, run: true };

/** A method with its route, ready to answer. */
export type ExtensionRoute = {
  readonly uri: string;
  readonly verb: string;
  readonly path: string;
  /** Answers from the raw query or body of a request. */
  readonly answer: (raw: RawParams) => Promise<ExtensionAnswer>;
};
export type RawParams = { readonly query: URLSearchParams } | { readonly body: string };
export type ExtensionAnswer = { readonly status: number; readonly body: unknown };

type Advertised = {
  description: string | undefined;
  endpoint: string | undefined;
  methods: Record<string, Readonly<Record<string, unknown>>>;
};

/** The extensions of one environment. */
export class Extensions {
  readonly #advertised = new Map<string, Advertised>();
  readonly #taken = new Set<string>();

  /** Adds the only method of an extension, at `/agentenv/ext/<name>`, or one of several, at `/agentenv/ext/<slug>/<op>`. */
  add<Input extends z.ZodRawShape>(
    uri: string,
    named: { readonly name: string } | { readonly op: string },
    definition: ExtensionMethod<Input>,
  ): ExtensionRoute {
    const op = "op" in named ? named.op : named.name;
    const path = definition.path ?? `/agentenv/ext/${"op" in named ? `${extensionSlug(uri)}/` : ""}${op}`;
    const verb = definition.method ?? "POST";
    const known = this.#advertised.get(uri);
    const what = `extension ${uri} method ${JSON.stringify(op)}`;
    if (!uri.startsWith("urn:") || op === "" || !path.startsWith("/")) throw illegal(what);
    if (known?.methods[op] !== undefined || this.#taken.has(`${verb} ${path}`)) throw twice(what, `${verb} ${path}`);
    checkOptions(what, definition, METHOD_OPTIONS);
    checkHandler(what, definition);
    this.#taken.add(`${verb} ${path}`);

    const shape = definition.input ?? {};
    const entry: Advertised = known ?? { description: undefined, endpoint: undefined, methods: {} };
    entry.description ??= definition.description;
    const method = { method: verb, request: paramsSchema(what, z.strictObject(shape)) };
    if ("op" in named) entry.methods[op] = { ...method, endpoint: path };
    else {
      entry.endpoint = path;
      entry.methods[op] = method;
    }
    this.#advertised.set(uri, entry);
    return { uri, verb, path, answer: (raw) => answerWith(what, definition, raw) };
  }

  list(): CardExtension[] {
    return [...this.#advertised].map(([uri, { description, endpoint, methods }]) => ({
      uri,
      ...(description === undefined ? {} : { description }),
      params: { ...(endpoint === undefined ? {} : { endpoint }), methods },
    }));
  }
}

/** The URI without `urn:`, `agentenv:` and a final version, with `/` for `:`. */
export function extensionSlug(uri: string): string {
  return uri
    .replace(/^urn:/, "")
    .replace(/^agentenv:/, "")
    .replace(/\/v\d+$/, "")
    .replaceAll(":", "/");
}

async function answerWith<Input extends z.ZodRawShape>(
  what: string,
  definition: ExtensionMethod<Input>,
  raw: RawParams,
): Promise<ExtensionAnswer> {
  const params = readParams(raw);
  if (typeof params === "string") return invalid(params);
  const shape = definition.input ?? ({} as Input);
  const read = await z.strictObject(shape).safeParseAsync(convertParams(shape, params));
  if (!read.success) return invalid(issuesText(read.error));
  try {
    return { status: 200, body: (await definition.run(read.data, toolContext())) ?? {} };
  } catch (thrown) {
    if (thrown instanceof AgentEnvError) return failure(thrown.status, thrown.fields);
    console.error(`${what} failed:`, thrown);
    return failure(500, fieldsOf("extension_failed", thrownText(thrown), "unknown"));
  }
}

/** The params of a request, or what is wrong with its body. Of a repeated query key the last counts. */
function readParams(raw: RawParams): Readonly<Record<string, unknown>> | string {
  if ("query" in raw) return Object.fromEntries(raw.query);
  if (raw.body.trim() === "") return {};
  let body: unknown;
  try {
    body = JSON.parse(raw.body);
  } catch {
    return "the body is not JSON";
  }
  return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body } : "the body is not a JSON object";
}

const invalid = (message: string): ExtensionAnswer => failure(400, fieldsOf("invalid_params", message, "no"));
const fieldsOf = (code: string, message: string, applied: Applied): ErrorFields => ({ code, message, retryable: false, applied });
const failure = (status: number, error: ErrorFields): ExtensionAnswer => ({ status, body: { ok: false, error } });

const illegal = (what: string): AuthorError =>
  new AuthorError({
    what,
    why: "an extension has a URI that starts with `urn:`, a method with a name, and a path that starts with `/`",
    next: 'for example extension("urn:agentenv:set-errors/v1", { name: "set_errors" }, …)',
  });
const twice = (what: string, route: string): AuthorError =>
  new AuthorError({ what: `${what} is there twice`, why: `${route} is taken`, next: "give one of them another name or path" });
