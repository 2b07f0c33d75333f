import {
  CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonObject,
  type JsonObject,
  jsonOf,
  LATEST_LEGACY_VERSION,
  METHOD_HEADER,
  MODERN_VERSION,
  NAME_HEADER,
  SESSION_HEADER,
  VERSION_HEADER,
  VERSION_META_KEY,
} from "@agent-env/protocol";
import { ANSWER_MS, type Exchange, type Http } from "./http.ts";

const ACCEPT = { accept: "application/json, text/event-stream" };
const CLIENT_INFO = { name: "agent-env-conformance", version: "1" };
const MAX_REDIRECTS = 3;
const MAX_PAGES = 100;

export type Era = "legacy" | "modern";
/** An answer, and the JSON-RPC reply in it: a result or an error; null where there is none. */
export type Said = { readonly exchange: Exchange; readonly reply: JsonObject | null };
export type Listed =
  | { readonly tools: readonly JsonObject[]; readonly exchange: Exchange }
  | { readonly failed: Exchange; readonly why: string };

/** A conversation with one MCP endpoint, in the era that it speaks (6-mcp §1). */
export class McpTalk {
  readonly http: Http;
  readonly path: string;
  readonly era: Era;
  readonly capabilities: JsonObject;
  readonly session: string | undefined;
  readonly version: string;
  /** The answer to `notifications/initialized`; null where the era has none. */
  readonly initialized: Exchange | null;
  readonly #headers: Readonly<Record<string, string>>;
  #lastId = 1;

  private constructor(
    talk: Pick<McpTalk, "http" | "path" | "era" | "capabilities" | "session" | "version" | "initialized">,
    headers: Headers,
  ) {
    this.http = talk.http;
    this.path = talk.path;
    this.era = talk.era;
    this.capabilities = talk.capabilities;
    this.session = talk.session;
    this.version = talk.version;
    this.initialized = talk.initialized;
    this.#headers = headers;
  }

  /** Opens one by `initialize`, else by `server/discover`; or gives the answer that told there is none to be had. */
  static async open(http: Http, path: string, headers: Headers = {}): Promise<McpTalk | Exchange> {
    const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };
    const greeted = await askMcp(http, path, { jsonrpc: "2.0", id: 1, method: "initialize", params }, headers);
    const legacy = greeted.reply?.["result"];
    if (isJsonObject(legacy)) {
      const session = greeted.exchange.header(SESSION_HEADER);
      const version = String(legacy["protocolVersion"] ?? LATEST_LEGACY_VERSION);
      const own = { ...headers, ...sessionHeaders(session, version) };
      const initialized = await http.post(
        path,
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { headers: { ...ACCEPT, ...own } },
      );
      return new McpTalk({ http, path, era: "legacy", capabilities: capabilitiesIn(legacy), session, version, initialized }, own);
    }
    const discovered = await askMcp(http, path, modern({ id: 1, method: "server/discover" }), {
      ...headers,
      ...modernHeaders("server/discover"),
    });
    const result = discovered.reply?.["result"];
    if (!isJsonObject(result)) return greeted.exchange;
    const rest = { session: undefined, version: MODERN_VERSION, initialized: null };
    return new McpTalk({ http, path, era: "modern", capabilities: capabilitiesIn(result), ...rest }, headers);
  }

  /** Sends a request. `meta` is put into its `_meta`. */
  request(method: string, params: JsonObject = {}, meta: JsonObject = {}): Promise<Said> {
    const id = ++this.#lastId;
    if (this.era === "modern") {
      const name: Headers = typeof params["name"] === "string" ? { [NAME_HEADER]: params["name"] } : {};
      return askMcp(this.http, this.path, modern({ id, method, params }, meta), { ...this.#headers, ...modernHeaders(method), ...name });
    }
    const withMeta = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    return askMcp(this.http, this.path, { jsonrpc: "2.0", id, method, params: withMeta }, this.#headers);
  }

  /** All tools, of all pages. */
  async listTools(meta: JsonObject = {}): Promise<Listed> {
    const tools: JsonObject[] = [];
    const cursors = new Set<unknown>();
    let cursor: unknown;
    for (;;) {
      const { exchange, reply } = await this.request("tools/list", cursor === undefined ? {} : { cursor }, meta);
      const result = reply?.["result"];
      const page = isJsonObject(result) ? result["tools"] : undefined;
      if (!isJsonObject(result) || !Array.isArray(page) || !page.every(isJsonObject)) return { failed: exchange, why: "no list of tools" };
      tools.push(...page);
      cursor = result["nextCursor"];
      if (cursor === undefined || cursor === null) return { tools, exchange };
      if (cursors.has(cursor) || cursors.size >= MAX_PAGES) return { failed: exchange, why: "pages without an end" };
      cursors.add(cursor);
    }
  }

  /** Ends the session at the server. */
  async close(): Promise<void> {
    if (this.session !== undefined) await this.http.ask(this.path, { method: "DELETE", headers: this.#headers });
  }
}

type Headers = Readonly<Record<string, string>>;

/** Posts one message and reads its reply, from JSON or from a stream. Redirects are followed within the endpoint's origin. */
async function askMcp(http: Http, path: string, message: JsonObject, headers: Headers = {}): Promise<Said> {
  let at = path;
  for (let redirects = 0; ; redirects++) {
    const exchange = await http.post(at, message, {
      headers: { ...ACCEPT, ...headers },
      timeoutMs: ANSWER_MS,
      enough: (text, type) => type === "text/event-stream" && replyInStream(text, message["id"]) !== null,
    });
    const next =
      [307, 308].includes(exchange.status) && redirects < MAX_REDIRECTS ? redirectPath(http, at, exchange.header("location")) : null;
    if (next === null) return { exchange, reply: replyOf(exchange, message["id"]) };
    at = next;
  }
}

/** A redirect's place below the same base; null where it leads elsewhere. */
function redirectPath(http: Http, from: string, location: string | undefined): string | null {
  const base = new URL(http.base);
  const url = URL.parse(location ?? "", `${http.base}/${from.replace(/^\//, "")}`);
  const below = `${base.pathname.replace(/\/$/, "")}/`;
  return url !== null && url.origin === base.origin && url.pathname.startsWith(below)
    ? url.pathname.slice(below.length - 1) + url.search
    : null;
}

function replyOf({ status, type, text }: Exchange, id: unknown): JsonObject | null {
  if (status !== 200) return null;
  if (type === "text/event-stream") return replyInStream(text, id);
  return type === "application/json" ? asReply(jsonOf(text), id) : null;
}

/** The reply to a request among the events of a stream that may still go on. */
function replyInStream(text: string, id: unknown): JsonObject | null {
  for (const event of text.split(/\r\n\r\n|\n\n|\r\r/).slice(0, -1)) {
    const data = event
      .split(/\r\n|\n|\r/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, ""));
    const reply = asReply(jsonOf(data.join("\n")), id);
    if (reply !== null) return reply;
  }
  return null;
}

function asReply(value: unknown, id: unknown): JsonObject | null {
  if (!isJsonObject(value) || value["jsonrpc"] !== "2.0" || value["id"] !== id) return null;
  return "result" in value || "error" in value ? value : null;
}

function sessionHeaders(session: string | undefined, version: string): Headers {
  return { [VERSION_HEADER]: version, ...(session === undefined ? {} : { [SESSION_HEADER]: session }) };
}

function modern({ params = {}, ...request }: { id: number; method: string; params?: JsonObject }, meta: JsonObject = {}): JsonObject {
  const own = { [VERSION_META_KEY]: MODERN_VERSION, [CAPABILITIES_META_KEY]: {}, [CLIENT_INFO_META_KEY]: CLIENT_INFO };
  return { jsonrpc: "2.0", ...request, params: { ...params, _meta: { ...meta, ...own } } };
}

function modernHeaders(method: string): Headers {
  return { [VERSION_HEADER]: MODERN_VERSION, [METHOD_HEADER]: method };
}

function capabilitiesIn(result: JsonObject): JsonObject {
  return isJsonObject(result["capabilities"]) ? result["capabilities"] : {};
}
