import {
  errorAnswer,
  INVALID_REQUEST,
  isJsonObject,
  type JsonObject,
  messageTooLarge,
  PARSE_ERROR,
  ROLE_META_KEY,
  resultAnswer,
  SESSION_META_KEY,
  unknownCoding,
  upgradeAtMcp,
} from "@agent-env/protocol";
import type { Caller } from "../auth/caller.ts";
import { mayUse } from "../deployment/catalogue.ts";
import type { Deployment } from "../deployment/deployment.ts";
import { qualifiedName } from "../deployment/names.ts";
import { kindOf, readJson } from "../mcp/message.ts";
import { toolError } from "../mcp/results.ts";
import type { Route } from "../route.ts";
import type { Field, In, Out } from "../seam.ts";
import { writtenTime } from "../universe-time.ts";
import type { View } from "../view.ts";
import { withAdded } from "./batch-answer.ts";
import { serviceRequest } from "./bytes.ts";
import { forward, replyError } from "./forward.ts";
import { outward } from "./headers.ts";

type ServiceRoute = Extract<Route, { to: "service" }> & { readonly caller: Caller };

/** Asked of a server whose answer is read here. */
const READABLE: readonly Field[] = [["accept-encoding", "identity"]];

/** A message with the caller's role in it, or the answer that it gets here because its tool is refused. */
type Checked = { readonly send: JsonObject } | { readonly refused: JsonObject | null };

/** `/svc` where it reaches an MCP endpoint: what is sent says the caller's role, whatever its body claimed (3-wire §svc). */
export class GuardedService {
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Passes a request on, with its messages read, checked, and written anew. */
  async handle(view: View, target: ServiceRoute, request: In, answer: Out): Promise<void> {
    if (request.header("upgrade") !== undefined) return replyError(request, answer, upgradeAtMcp());
    if (!request.hasBody) return await this.#forward(view, target, request, answer, null);
    const read = await readJson(this.#deployment.host, request, view.maxMessageBytes);
    if ("problem" in read) {
      const { status, code, message } = read.problem;
      if (status === 413) return replyError(request, answer, messageTooLarge(view.maxMessageBytes));
      if (status === 415) return replyError(request, answer, unknownCoding(request.header("content-encoding") ?? ""));
      return replyJson(answer, 400, errorAnswer(null, code === PARSE_ERROR ? PARSE_ERROR : code, message));
    }
    const { role } = target.caller;
    const { value } = read;
    if (Array.isArray(value) && value.length > 0 && value.every(isJsonObject)) {
      const batch = value.map((message) => this.#checked(message, target.key, role));
      return await this.#batch(view, target, request, answer, batch);
    }
    if (!isJsonObject(value))
      return replyJson(answer, 400, errorAnswer(null, INVALID_REQUEST, "the body is neither an object nor a list of some"));
    const checked = this.#checked(value, target.key, role);
    if ("send" in checked) return await this.#forward(view, target, request, answer, JSON.stringify(checked.send));
    return checked.refused === null ? answer.reply(202, [["content-length", "0"]]) : replyJson(answer, 200, checked.refused);
  }

  /** In a batch a refusal is for its message alone: the others are sent, and its answer is added to theirs. */
  async #batch(view: View, target: ServiceRoute, request: In, answer: Out, batch: readonly Checked[]): Promise<void> {
    const send = batch.flatMap((checked) => ("send" in checked ? [checked.send] : []));
    const refused = batch.flatMap((checked) => ("refused" in checked && checked.refused !== null ? [checked.refused] : []));
    if (send.length === batch.length) return await this.#forward(view, target, request, answer, JSON.stringify(send));
    if (send.length === 0) return refused.length === 0 ? answer.reply(202, [["content-length", "0"]]) : replyJson(answer, 200, refused);
    const { maxMessageBytes } = view;
    const out = withAdded(answer, { server: target.key, sent: send, added: refused, maxBytes: maxMessageBytes });
    await this.#forward(view, target, request, out, JSON.stringify(send), READABLE);
  }

  #checked(message: JsonObject, key: string, role: string): Checked {
    if (!isJsonObject(message["params"])) return { send: message };
    const { params } = message;
    if (message["method"] === "tools/call" && typeof params["name"] === "string") {
      const refusal = this.#refusal(key, params["name"], role);
      if (refusal !== null) return { refused: kindOf(message) === "request" ? resultAnswer(message["id"], toolError(refusal)) : null };
    }
    const { [SESSION_META_KEY]: _session, ...kept } = isJsonObject(params["_meta"]) ? params["_meta"] : {};
    return { send: { ...message, params: { ...params, _meta: { ...kept, [ROLE_META_KEY]: role } } } };
  }

  /** Why the role may not call a tool of this server; null if it may, and for a tool that no list has: the server knows better. */
  #refusal(key: string, name: string, role: string): string | null {
    const backing = this.#deployment.backings.find(({ server }) => (server.kind === "mcp" ? `mcp-${server.name}` : server.name) === key);
    const item = backing?.mcp?.base.last("tools")?.items.find((tool) => tool["name"] === name);
    if (backing === undefined || item === undefined) return null;
    const qualified = qualifiedName(backing.server.name, name);
    const allowed = mayUse(this.#deployment.rules, role, { name, qualified, item });
    return allowed ? null : `Tool '${name}' is disabled for role '${role}'`;
  }

  /** Passes a request on; `instead` takes the place of the client's fields of those names. */
  async #forward(
    view: View,
    target: ServiceRoute,
    request: In,
    answer: Out,
    body: string | null,
    instead: readonly Field[] = [],
  ): Promise<void> {
    const url = view.services.get(target.key)?.url;
    if (url === undefined) throw new Error(`no service ${JSON.stringify(target.key)} in the view it was routed by`);
    const plain = serviceRequest(request, { ...target, url, time: writtenTime(view.clock), idleMs: view.proxyIdleMs });
    const written = body === null ? plain.headers : writtenAnew(plain.headers, body);
    const headers = [...written.filter(([name]) => !instead.some(([other]) => other === name)), ...instead];
    const watched = await this.#deployment.requestWatch.begin(
      { route: "svc", service: target.key, path: target.path, role: target.caller.role },
      request,
    );
    await forward(this.#deployment.host, request, answer, {
      request: { ...plain, headers, body },
      outward,
      answered: (status) => watched?.answered(status),
      failed: (fault) => ({ status: 502, headers: [], body: { error: `Proxy request failed: ${target.key}: ${fault.reason}` } }),
    });
  }
}

/** What tells how a body's bytes are read, and what was computed over them. */
const OF_THE_BYTES = ["content-type", "content-length", "content-encoding", "content-md5", "digest", "content-digest", "repr-digest"];

/**
 * The fields of a body that was decoded and written anew. The type is said anew too: under the client's own a server could
 * read other messages in these bytes (`charset=utf-7`, a form) than those that were checked.
 */
function writtenAnew(fields: readonly Field[], body: string): Field[] {
  const kept = fields.filter(([name]) => !OF_THE_BYTES.includes(name));
  return [...kept, ["content-type", "application/json"], ["content-length", String(new TextEncoder().encode(body).length)]];
}

function replyJson(answer: Out, status: number, body: unknown): void {
  answer.reply(status, [["content-type", "application/json"]], JSON.stringify(body));
}
