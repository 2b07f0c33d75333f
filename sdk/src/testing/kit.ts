import {
  isJsonObject,
  type JsonObject,
  joined,
  LOG_LEVEL_META_KEY,
  type Part,
  ROLE_HEADER,
  ROLE_META_KEY,
  SESSION_META_KEY,
  UNIVERSE_HEADER,
} from "@agent-env/protocol";
import type { Environment } from "../environment.ts";
import { dataPart } from "../parts.ts";
import type { Answers } from "./answers.ts";
import { CookieJar } from "./cookie-jar.ts";
import { type McpAnswer, mcpRequest } from "./mcp-client.ts";
import { paramHeaders } from "./param-headers.ts";
import { advertised, type Called, Contents, calledWith, DataPlaneAnswer, mcpPathOf, Parts } from "./wire.ts";

/** No address: requests never leave the process. */
const ORIGIN = "http://environment.test";
const MAX_REDIRECTS = 5;

/** Who makes the requests of a kit, and when. */
type As = {
  readonly role?: string;
  readonly session?: string;
  readonly time?: string;
  readonly prefix?: string;
  readonly answers: Answers;
};

/** An environment, used as through a gateway, without a network: its pages, tools and data, as any role, at any time. */
export class TestKit {
  readonly #environment: Environment;
  readonly #as: As;
  readonly #cookies: CookieJar;

  constructor(environment: Environment, as: As = { answers: {} }, cookies = new CookieJar()) {
    this.#environment = environment;
    this.#as = as;
    this.#cookies = cookies;
  }

  /** The same, used as this role. */
  as(role: string, session?: string): TestKit {
    return this.#with({ role, session });
  }

  /** The same, while the universe's clock stands at this time (RFC 3339). */
  at(time: string): TestKit {
    return this.#with({ time });
  }

  /** The same, seen under a prefix as a gateway has it: `/website/shop`. Paths stay the site's own. */
  under(prefix: string): TestKit {
    return this.#with({ prefix });
  }

  /** The same, called by a client that can be asked, and answers so. */
  answering(answers: Answers): TestKit {
    return this.#with({ answers });
  }

  /** The same, visited by somebody else: without the cookies so far. */
  visitor(): TestKit {
    return new TestKit(this.#environment, this.#as);
  }

  /** The card, as it is served now. */
  card(): Readonly<Record<string, unknown>> {
    return this.#environment.card();
  }

  /** Sends a request to a path of the environment, with the visitor's cookies. Redirects are not followed. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const { role, time, prefix } = this.#as;
    const headers = new Headers(init.headers);
    const fields = { [ROLE_HEADER]: role, [UNIVERSE_HEADER]: time, "X-Forwarded-Prefix": prefix, Cookie: this.#cookies.field };
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) headers.set(name, value);
    const answer = await this.#environment.fetch(new Request(joined(ORIGIN, path), { ...init, headers }));
    this.#cookies.keep(answer);
    return answer;
  }

  /** The text of a page, redirects of the site's own followed. Throws for a status of 400 or more. */
  async page(path: string): Promise<string> {
    return await this.#shown(path, await this.fetch(path));
  }

  /** Sends a form, and gives the text of the page that answers it, redirects of the site's own followed. */
  async submit(path: string, fields: Readonly<Record<string, string>>): Promise<string> {
    return await this.#shown(path, await this.fetch(path, { method: "POST", body: new URLSearchParams(fields) }));
  }

  /** What `tools/list` shows this role. */
  async tools(): Promise<readonly JsonObject[]> {
    const { tools } = (await this.mcp("tools/list")).result;
    return Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  }

  /** Calls a tool. A call that fails is a result with `isError`; MCP's own errors throw. */
  async call(name: string, args: JsonObject = {}, options: { readonly signal?: AbortSignal } = {}): Promise<Called> {
    const schema = (await this.tools()).find((tool) => tool["name"] === name)?.["inputSchema"];
    const params = { name, arguments: args };
    return calledWith(await this.#mcp("tools/call", params, { headers: paramHeaders(schema, args), signal: options.signal }));
  }

  /** Reads a resource: its text, or its bytes. */
  async resource(uri: string): Promise<string | Uint8Array> {
    const { contents } = Contents.parse((await this.mcp("resources/read", { uri })).result);
    const [{ text, blob = "" } = {}] = contents;
    return text ?? Buffer.from(blob, "base64");
  }

  /** Gets a prompt: its messages. */
  async prompt(name: string, args: Readonly<Record<string, string>> = {}): Promise<readonly unknown[]> {
    const { messages } = (await this.mcp("prompts/get", { name, arguments: args })).result;
    return Array.isArray(messages) ? messages : [];
  }

  /** Makes any MCP request of revision 2026-07-28. Throws `McpRequestFailed` for MCP's own errors. */
  async mcp(method: string, params: JsonObject = {}): Promise<McpAnswer> {
    return await this.#mcp(method, params, {});
  }

  /** Empties the environment's data. */
  async reset(): Promise<void> {
    await this.#data("data/reset", {});
  }

  /** Adds a document, or parts, to the environment's data. */
  async add(seed: Readonly<Record<string, unknown>> | readonly Part[]): Promise<void> {
    await this.#data("data/add", { parts: isParts(seed) ? [...seed] : [dataPart(seed)] });
  }

  /** The environment's data, as parts. */
  async parts(): Promise<readonly Part[]> {
    return Parts.parse(await this.#data("data/get", {})).parts;
  }

  /** The environment's data, where it is one JSON document. */
  async data(): Promise<JsonObject> {
    const [part, ...others] = await this.parts();
    if (part?.kind === "data" && others.length === 0) return part.data;
    throw new Error("the environment's data isn't one JSON document: parts() gives all of it");
  }

  /** Uses an extension as its card advertises it: `op` names the method. */
  async extension(uri: string, op: string, params: JsonObject = {}): Promise<{ readonly status: number; readonly body: unknown }> {
    const { verb, path } = advertised(this.card(), uri, op);
    const query = new URLSearchParams(Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])));
    const answer = verb === "GET" ? await this.fetch(`${path}?${query}`) : await this.fetch(path, { method: verb, ...jsonBody(params) });
    return { status: answer.status, body: await answer.json() };
  }

  #with(change: Partial<As>): TestKit {
    return new TestKit(this.#environment, { ...this.#as, ...change }, this.#cookies);
  }

  async #mcp(
    method: string,
    params: JsonObject,
    { headers, signal }: { readonly headers?: readonly (readonly [string, string])[]; readonly signal?: AbortSignal },
  ): Promise<McpAnswer> {
    const { role = "default", session, answers } = this.#as;
    const path = mcpPathOf(this.card());
    if (path === undefined) throw new Error(`${this.#environment.name} serves no MCP: it has neither a tool nor a resource`);
    const told = { progressToken: 1, [LOG_LEVEL_META_KEY]: "debug" };
    const meta = { ...told, [ROLE_META_KEY]: role, ...(session === undefined ? {} : { [SESSION_META_KEY]: session }) };
    const post = (fields: Readonly<Record<string, string>>, body: string) =>
      this.fetch(path, { method: "POST", headers: fields, body, ...(signal === undefined ? {} : { signal }) });
    return await mcpRequest(post, answers, { method, params, meta, headers });
  }

  async #data(method: string, params: object): Promise<unknown> {
    const answer = await this.fetch("/agentenv", { method: "POST", ...jsonBody({ jsonrpc: "2.0", id: 1, method, params }) });
    const { result, error } = DataPlaneAnswer.parse(await answer.json());
    if (error === undefined) return result;
    throw new Error(`${method}: ${error.message}${error.data?.detail === undefined ? "" : ` (${error.data.detail})`}`);
  }

  async #shown(path: string, first: Response): Promise<string> {
    let answer = first;
    for (let followed = 0; answer.status >= 300 && answer.status < 400; followed++) {
      const location = answer.headers.get("location");
      if (location === null || followed === MAX_REDIRECTS)
        throw new Error(`${path}: status ${answer.status}, ${followed} redirects followed`);
      answer = await this.fetch(this.#ownPath(path, location));
    }
    if (answer.status >= 400) throw new Error(`${path}: status ${answer.status}: ${await answer.text()}`);
    return await answer.text();
  }

  /** The site's own path of a redirect; under a prefix it must have that. */
  #ownPath(path: string, location: string): string {
    const { prefix = "" } = this.#as;
    const { origin, pathname, search } = new URL(location, joined(ORIGIN, prefix + path));
    if (origin !== ORIGIN) throw new Error(`${path}: redirects to ${location}, which is elsewhere`);
    if (prefix === "") return pathname + search;
    if (!pathname.startsWith(`${prefix}/`)) throw new Error(`${path}: redirects to ${location}, which is outside the prefix ${prefix}`);
    return pathname.slice(prefix.length) + search;
  }
}

const jsonBody = (value: object) => ({ body: JSON.stringify(value), headers: { "Content-Type": "application/json" } });
const isParts = (seed: Readonly<Record<string, unknown>> | readonly Part[]): seed is readonly Part[] => Array.isArray(seed);

/** Takes an environment as it is, before or instead of `serve()`. */
export function testKit(environment: Environment): TestKit {
  return new TestKit(environment);
}
