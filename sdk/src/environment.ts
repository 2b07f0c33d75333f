import { CARD_PATH, DATA_OBJECTS_URI, DATA_PLANE_PATH, ROLE_HEADER } from "@agent-env/protocol";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { AuthorError } from "./author-error.ts";
import { CARD_OPTIONS, type CardDeclaration, cardOf, environmentName, mcpPath } from "./card.ts";
import { followClock } from "./clock.ts";
import { withRequest } from "./context.ts";
import { answerData, DATA_HANDLERS, type DataHandlers, dataOperations } from "./data-plane.ts";
import { type ExtensionMethod, type ExtensionRoute, Extensions } from "./extensions.ts";
import { McpContent } from "./mcp/content.ts";
import { McpEndpoint } from "./mcp/endpoint.ts";
import { loadMcpPackages, requireMcpPackages } from "./mcp/packages.ts";
import { checkNearOptions, checkOptions, type OptionNames } from "./options.ts";
import { isLoopback, type Place } from "./place.ts";
import { type PromptDefinition, Prompts } from "./prompts.ts";
import { type ResourceDefinition, Resources, type ResourceTemplateDefinition } from "./resources.ts";
import { listen, type Serving } from "./serve.ts";
import { ruleInput, ToolAccess } from "./tool-access.ts";
import { type OnToolCall, type ToolDefinition, Tools } from "./tools.ts";

/** Listed by a server that follows the universe's clock by itself (3-wire §clock). */
const CLOCK_URI = "urn:agentenv:clock/v1";

/** Where it says that it is up: it listens once it can answer. */
const READY_PATH = "/ready";

/**
 * What serves one environment: its card, data plane, extensions, routes of its own, and MCP if it has tools or resources.
 * Everything is added before `serve()`, and added wrongly it throws at once.
 */
export abstract class Environment {
  /** As the card says it: `ENVIRONMENT_NAME`, else the declared name, else the class's. */
  readonly name: string;
  /** The Hono app, for routes of the author's own. */
  readonly app = new Hono();
  readonly #declaration: CardDeclaration;
  readonly #tools: Tools;
  readonly #resources = new Resources();
  readonly #prompts: Prompts;
  readonly #extensions = new Extensions();
  readonly #verbs = new Map<string, Map<string, ExtensionRoute["answer"]>>();
  #data: DataHandlers = {};
  #mcp: Promise<McpEndpoint> | undefined;
  #isLocal = false;

  constructor(card: CardDeclaration = {}) {
    checkNearOptions(`the card of ${new.target.name}`, card, CARD_OPTIONS);
    this.name = environmentName(card, new.target.name);
    this.#declaration = card;
    this.#tools = new Tools(this.name);
    this.#prompts = new Prompts(this.name);
    this.#addRoutes();
  }

  /** Where it listens unless `serve()` is told otherwise. */
  protected abstract place(): Place;

  /** Adds a tool. `{environment_name}` in its name becomes the environment's. */
  tool<Input extends z.ZodRawShape = Record<never, never>, Output extends z.ZodType = z.ZodType<unknown>>(
    name: string,
    definition: ToolDefinition<Input, Output>,
  ): this {
    requireMcpPackages(`tool ${JSON.stringify(name)} of ${this.name}`);
    this.#tools.add(name, definition);
    return this;
  }

  /** Changes what a tool says about itself, on the card and in `tools/list` together. It may do so while it serves. */
  async describeTool(name: string, description: string): Promise<void> {
    this.#tools.describe(name, description);
    await (await this.#mcp)?.toolsChanged();
  }

  /** Runs before each call of a known tool: null lets it go on, a complete call result answers instead. */
  onToolCall(hook: OnToolCall): this {
    this.#tools.onCall(hook);
    return this;
  }

  /**
   * Lets roles be kept from tools where no gateway does it: serves `/tools/disable` and `/tools/enable`, and lists them on the
   * card. The rules last as long as the process.
   */
  toolAccess(): this {
    const access = new ToolAccess();
    this.#tools.guard(access);
    const rule = (op: "disable" | "enable") =>
      this.extension(
        `urn:agentenv:${op}-tool/v1`,
        { name: op },
        {
          path: `/tools/${op}`,
          input: ruleInput,
          run: async (given) => {
            const rules = access.set(given, op === "enable");
            await (await this.#mcp)?.toolsChanged();
            return rules;
          },
        },
      );
    rule("disable");
    return rule("enable");
  }

  /** Adds a resource under a fixed URI. */
  resource(uri: string, definition: ResourceDefinition): this {
    requireMcpPackages(`resource ${JSON.stringify(uri)} of ${this.name}`);
    this.#resources.add(uri, definition);
    return this;
  }

  /** Adds resources under all URIs that a template makes: `items://{id}`. Its variables are texts. */
  resourceTemplate<Template extends string>(template: Template, definition: ResourceTemplateDefinition<Template>): this {
    requireMcpPackages(`resource template ${JSON.stringify(template)} of ${this.name}`);
    this.#resources.addTemplate(template, definition);
    return this;
  }

  /** Tells the clients that watch a resource that it reads differently now. */
  async resourceUpdated(uri: string): Promise<void> {
    await (await this.#mcp)?.resourceUpdated(uri);
  }

  /** Adds a prompt. `{environment_name}` in its name becomes the environment's. */
  prompt<Input extends z.ZodRawShape = Record<never, never>>(name: string, definition: PromptDefinition<Input>): this {
    requireMcpPackages(`prompt ${JSON.stringify(name)} of ${this.name}`);
    this.#prompts.add(name, definition);
    return this;
  }

  /** Sets how data is reset, added and read. `jsonData` makes the handlers where the data is one JSON document. */
  data(handlers: DataHandlers): this {
    checkOptions("data", handlers, DATA_HANDLERS);
    if (handlers.getUnderGrant !== undefined && handlers.get === undefined) {
      throw new AuthorError({
        what: "data has getUnderGrant without get",
        why: "most callers offer no place to write to",
        next: "add get, which answers these with parts",
      });
    }
    if (Object.keys(this.#data).length > 0) {
      throw new AuthorError({
        what: "data is set already",
        why: "an environment has one set of handlers",
        next: "give all of them at once",
      });
    }
    this.#data = handlers;
    return this;
  }

  /** Adds the only method of an extension (`name`), or one of several (`op`), with its route. */
  extension<Input extends z.ZodRawShape = Record<never, never>>(
    uri: string,
    named: { readonly name: string } | { readonly op: string },
    definition: ExtensionMethod<Input>,
  ): this {
    const { path } = definition;
    if (path !== undefined && !path.startsWith(`${DATA_PLANE_PATH}/`)) this.refuseTaken(`extension ${uri}`, path, []);
    this.#route(this.#extensions.add(uri, named, definition));
    return this;
  }

  /**
   * Lets work that runs for no request know the universe's time: lists `clock/v1`, by which a task hands over the clock's
   * address. In requests `now()` needs none of it.
   */
  followsClock(): this {
    return this.extension(
      CLOCK_URI,
      { name: "sync_clock" },
      {
        description: "Follow the universe's clock.",
        input: { env_get_time_url: z.url({ protocol: /^https?$/ }) },
        run: async ({ env_get_time_url }) => await followClock(env_get_time_url),
      },
    );
  }

  /** Whether it serves MCP: with at least one tool or resource. */
  servesMcp(): boolean {
    return this.#tools.size > 0 || this.#resources.size > 0;
  }

  /** The card as it is served now. */
  card(): Readonly<Record<string, unknown>> {
    const extensions = this.#extensions.list();
    return cardOf(this.#declaration, {
      name: this.name,
      operations: dataOperations(this.#data),
      mcp: this.servesMcp(),
      tools: this.#tools.list(),
      extensions: this.#data.getUnderGrant === undefined ? extensions : [...extensions, { uri: DATA_OBJECTS_URI }],
    });
  }

  /** Answers one request, without a server. `node` is the request as Node got it, where there is one. */
  readonly fetch = async (request: Request, node?: { readonly incoming: RawRequest }): Promise<Response> => {
    const headers = new Headers(request.headers);
    const role = firstHeader(node?.incoming, ROLE_HEADER);
    if (role !== undefined) headers.set(ROLE_HEADER, role);
    return await withRequest(headers, async () => await this.app.fetch(request));
  };

  /** Listens, and ends cleanly on SIGTERM and SIGINT: calls in flight are answered, then the process exits. */
  async serve(given: Partial<Place> = {}): Promise<Serving> {
    checkOptions("serve", given, { host: true, port: true } satisfies OptionNames<Place>);
    const place = { ...this.place(), ...given };
    if (this.#prompts.size > 0 && !this.servesMcp()) {
      throw new AuthorError({
        what: `${this.name} has prompts, and neither a tool nor a resource`,
        why: "a website serves MCP if it has one of these, and prompts go with it",
        next: "add a tool or a resource, or leave the prompts out",
      });
    }
    this.#isLocal = isLoopback(place.host);
    const mcp = this.servesMcp() ? await this.#endpoint() : undefined;
    return await listen(place, { name: this.name, fetch: this.fetch, closing: async () => await mcp?.endIdleStreams() });
  }

  /** Throws an `AuthorError` for a path that the environment answers itself, or that a gateway keeps from pages. */
  protected refuseTaken(what: string, path: string, alsoTaken: readonly string[]): void {
    const own = [CARD_PATH, DATA_PLANE_PATH, mcpPath(this.#declaration), READY_PATH, ...alsoTaken];
    const taken = own.find((known) => path === known || path.startsWith(`${known}/`));
    if (path.startsWith("/") && taken === undefined) return;
    throw new AuthorError({
      what: `${what} can't be at ${JSON.stringify(path)}`,
      why: taken === undefined ? "a path starts with /" : `the environment itself answers at ${taken}, and under it`,
      next: "give it another path",
    });
  }

  #addRoutes(): void {
    const { app } = this;
    app.get(CARD_PATH, (c) => c.json(this.card()));
    app.all(CARD_PATH, methodNotAllowed("GET, HEAD"));
    app.get(READY_PATH, (c) => c.json({ ok: true }));
    app.post(DATA_PLANE_PATH, async (c) => c.json(await answerData(this.#data, await c.req.text())));
    app.all(DATA_PLANE_PATH, methodNotAllowed("POST"));
    const mcp = mcpPath(this.#declaration);
    app.on("ALL", [mcp, `${mcp}/`], async (c) => {
      return this.servesMcp() ? await (await this.#endpoint()).handle(c.req.raw, { localOnly: this.#isLocal }) : c.notFound();
    });
    app.onError((error, c) => {
      console.error(`${c.req.method} ${c.req.path} failed:`, error);
      return c.text("Internal Server Error", 500);
    });
  }

  #endpoint(): Promise<McpEndpoint> {
    const content = new McpContent(this.name, { tools: this.#tools, resources: this.#resources, prompts: this.#prompts });
    this.#mcp ??= loadMcpPackages().then((packages) => new McpEndpoint(packages, content));
    return this.#mcp;
  }

  /** One path may serve several verbs, each its own method: what is left over is 405. */
  #route({ verb, path, answer }: ExtensionRoute): void {
    const known = this.#verbs.get(path);
    if (known !== undefined) {
      known.set(verb, answer);
      return;
    }
    const verbs = new Map([[verb, answer]]);
    this.#verbs.set(path, verbs);
    this.app.all(path, async (c) => {
      // Hono answers a HEAD by the GET, and drops the body.
      const method = c.req.method === "HEAD" ? "GET" : c.req.method;
      const asked = verbs.get(method);
      if (asked === undefined) return methodNotAllowed([...verbs.keys()].join(", "))(c);
      const { status, body } = await asked(method === "GET" ? { query: new URL(c.req.url).searchParams } : { body: await c.req.text() });
      return Response.json(body, { status });
    });
  }
}

type RawRequest = { readonly rawHeaders: readonly string[] };

/** The first of repeated header fields, which a `Headers` object would join. */
function firstHeader(incoming: RawRequest | undefined, name: string): string | undefined {
  const raw = incoming?.rawHeaders ?? [];
  const at = raw.findIndex((field, index) => index % 2 === 0 && field.toLowerCase() === name.toLowerCase());
  return at === -1 ? undefined : raw[at + 1];
}

const methodNotAllowed = (allow: string) => (c: Context) => c.text("Method Not Allowed", 405, { Allow: allow });
