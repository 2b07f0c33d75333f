import {
  errorAnswer,
  INVALID_PARAMS,
  isJsonObject,
  type JsonObject,
  ROLE_META_KEY,
  resultAnswer,
  SESSION_META_KEY,
} from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { type Entry, mayRepeat, mayUse } from "../deployment/catalogue.ts";
import type { Deployment } from "../deployment/deployment.ts";
import { callGatewayTool, GATEWAY_SOURCE } from "../deployment/gateway-tools.ts";
import type { Turn } from "./legacy.ts";
import type { Outcome, Trouble } from "./link.ts";
import { Slots } from "./slots.ts";

/** A name that no list has is looked for once more in lists that are older than this. */
const LOOK_AGAIN_MS = 1_000;
/** How long a cancelled call's server may still take notice. */
const CANCEL_GRACE_MS = 1_000;
const ERROR_META_KEY = "agentenv.io/error";

type LiveCall = { readonly cancel: (reason: unknown) => void };

/** `tools/call`: one message to the server that has the tool, and its reply back. */
export class Calls {
  readonly #deployment: Deployment;
  /** Caller and request id → the calls under way. Two with one id can't be told apart. */
  readonly #live = new Map<string, LiveCall[]>();
  /** In the mode `consistent` one call is under way at a time, whatever its server. */
  readonly #turns: Slots;
  #lastToken = 0;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    const isConsistent = deployment.host.record().gateway_mode === "consistent";
    this.#turns = new Slots(isConsistent ? 1 : Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** The reply to a `tools/call`; null if it was cancelled. */
  async call(turn: Turn, message: JsonObject): Promise<JsonObject | null> {
    const { id, params } = message;
    const name = isJsonObject(params) ? params["name"] : undefined;
    if (!isJsonObject(params) || typeof name !== "string") return errorAnswer(id, INVALID_PARAMS, "params.name must be a string");
    const args = params["arguments"];
    if (args !== undefined && args !== null && !isJsonObject(args))
      return errorAnswer(id, INVALID_PARAMS, "params.arguments must be an object");

    const entry = await this.#find(name);
    if (entry === undefined) return resultAnswer(id, toolError(`Unknown tool: ${name}`));
    if (!mayUse(this.#deployment.rules, turn.role, entry))
      return resultAnswer(id, toolError(`Tool '${name}' is disabled for role '${turn.role}'`));
    if (entry.source === GATEWAY_SOURCE) return resultAnswer(id, callGatewayTool(this.#deployment.host.record()));
    turn.answer.mayTakeLong();
    return await this.#send(turn, message, params, entry);
  }

  /** Cancels the call that a notification names, at its server, under the server's id. */
  cancel(turn: Turn, params: unknown): void {
    if (!isJsonObject(params)) return;
    const calls = this.#live.get(liveKey(turn, params["requestId"]));
    if (calls?.length === 1) calls[0]?.cancel(params["reason"]);
  }

  async #find(name: string): Promise<Entry | undefined> {
    return this.#deployment.catalogue().byName.get(name) ?? (await this.#deployment.freshCatalogue(LOOK_AGAIN_MS)).byName.get(name);
  }

  async #send(turn: Turn, message: JsonObject, params: JsonObject, entry: Entry): Promise<JsonObject | null> {
    const { link, lanes } = this.#deployment.mcpOf(entry.source);
    const lane = lanes.take(turn.caller);
    const upstream = lane.session;
    const ending = new AbortController();
    const sentIds: number[] = [];
    let isCancelled = false;
    const cancel = (reason: unknown): void => {
      isCancelled = true;
      const requestId = sentIds.at(-1);
      const notice = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId, ...(reason === undefined ? {} : { reason }) },
      };
      if (requestId !== undefined) inBackground(this.#deployment.host, upstream.notify(notice));
      setTimeout(() => ending.abort(), CANCEL_GRACE_MS);
    };
    const token = isJsonObject(params["_meta"]) ? params["_meta"]["progressToken"] : undefined;
    const ownToken = ++this.#lastToken;
    const ask = {
      message: {
        ...message,
        params: { ...params, name: entry.tool.name, _meta: stamped(turn, params["_meta"], token === undefined ? null : ownToken) },
      },
      silenceMs: this.#deployment.settings.toolCallTimeoutMs,
      heard: (said: JsonObject) => {
        const shown = isCancelled ? null : shownToCaller(said, token, ownToken);
        return shown === null ? undefined : turn.answer.say(shown);
      },
      sent: (id: number) => sentIds.push(id),
      signal: ending.signal,
    };
    const key = liveKey(turn, message["id"]);
    const live = { cancel };
    this.#live.set(key, [...(this.#live.get(key) ?? []), live]);
    await this.#turns.take();
    try {
      const outcome = isCancelled ? null : await link.request(upstream, ask, mayRepeat(entry.tool));
      return isCancelled || outcome === null ? null : replyTo(message["id"], outcome, entry.source);
    } finally {
      lane.give();
      this.#turns.give();
      this.#forget(key, live);
    }
  }

  #forget(key: string, live: LiveCall): void {
    const left = (this.#live.get(key) ?? []).filter((call) => call !== live);
    if (left.length === 0) this.#live.delete(key);
    else this.#live.set(key, left);
  }
}

function liveKey(turn: Turn, id: unknown): string {
  return `${turn.caller} ${JSON.stringify(id)}`;
}

/** The caller's `_meta` without what only the gateway may say, and with that (6-mcp §6, 3-wire §tools 6). */
function stamped(turn: Turn, meta: unknown, token: number | null): JsonObject {
  const callers = Object.entries(isJsonObject(meta) ? meta : {});
  const kept = callers.filter(
    ([key]) => !key.startsWith("agentenv.io/") && !key.startsWith("io.modelcontextprotocol/") && key !== "progressToken",
  );
  return {
    ...Object.fromEntries(kept),
    ...(token === null ? {} : { progressToken: token }),
    [ROLE_META_KEY]: turn.role,
    ...(turn.session === undefined ? {} : { [SESSION_META_KEY]: turn.session.key }),
  };
}

/** A server's notification as this call's caller may see it: progress under the caller's own token, and logs. */
function shownToCaller(said: JsonObject, token: unknown, ownToken: number): JsonObject | null {
  if (said["id"] !== undefined) return null;
  if (said["method"] === "notifications/message") return said;
  if (said["method"] !== "notifications/progress" || !isJsonObject(said["params"])) return null;
  return said["params"]["progressToken"] === ownToken ? { ...said, params: { ...said["params"], progressToken: token } } : null;
}

function replyTo(id: unknown, outcome: Outcome, server: string): JsonObject {
  return "reply" in outcome ? { ...outcome.reply, id } : resultAnswer(id, troubleResult(outcome.trouble, server));
}

function troubleResult({ reason, detail, delivered }: Trouble, server: string): JsonObject {
  return { ...toolError(`${server}: ${detail}`), _meta: { [ERROR_META_KEY]: { reason, server, delivered } } };
}

/** A failed call as a result that a model can read. */
export function toolError(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}
