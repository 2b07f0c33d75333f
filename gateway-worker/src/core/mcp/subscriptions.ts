import { errorAnswer, INVALID_PARAMS, isJsonObject, type JsonObject, RESOURCE_NOT_FOUND, resultAnswer } from "@agent-env/protocol";
import type { Deployment, Seen } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { Outcome } from "./link.ts";
import type { Place, ResourceRoutes } from "./resource-routes.ts";
import { plainReply } from "./results.ts";
import { listenStream } from "./server-view.ts";
import { own, type Reply, type Turn } from "./turn.ts";
import { Watch } from "./watch.ts";

const ASK_MS = 30_000;

/** Who wants to know of a resource: a legacy session, or a modern listen. Its sessions with servers are under this name. */
export type Owner = { readonly caller: string; readonly seen: Seen };
type Subscription = { readonly owner: string; readonly asked: string; readonly place: Place; readonly stop: () => void };

/** Which resources' changes clients are told of. */
export class Subscriptions {
  readonly #deployment: Deployment;
  readonly #routes: ResourceRoutes;
  /** By owner, server and the server's own URI. */
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(deployment: Deployment, routes: ResourceRoutes) {
    this.#deployment = deployment;
    this.#routes = routes;
  }

  /** The reply to a legacy `resources/subscribe`. It holds over a restart of the gateway, and of the server. */
  async subscribe(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id } = message;
    const uri = uriOf(message);
    const { session } = turn;
    if (uri === null || session === undefined) return own(errorAnswer(id, INVALID_PARAMS, "params.uri must be a string"));
    const { outcome, source } = await this.add({ caller: session.key, seen: turn }, uri);
    if (outcome === null) return own(errorAnswer(id, RESOURCE_NOT_FOUND, "Resource not found", { uri }));
    if (!("reply" in outcome) || outcome.reply["error"] !== undefined) return plainReply(id, outcome, source);
    this.#deployment.host.sql.exec(
      "INSERT OR REPLACE INTO subscriptions (session, uri, server) VALUES (?, ?, ?)",
      session.key,
      uri,
      source,
    );
    await this.#deployment.host.committed();
    return plainReply(id, outcome, source);
  }

  /** The reply to a legacy `resources/unsubscribe`. */
  async unsubscribe(turn: Turn, message: JsonObject): Promise<Reply> {
    const uri = uriOf(message);
    const { session } = turn;
    if (uri === null || session === undefined) return own(errorAnswer(message["id"], INVALID_PARAMS, "params.uri must be a string"));
    this.#deployment.host.sql.exec("DELETE FROM subscriptions WHERE session = ? AND uri = ?", session.key, uri);
    for (const [key, { owner, asked, stop }] of this.#subscriptions) {
      if (owner !== session.key || asked !== uri) continue;
      stop();
      this.#subscriptions.delete(key);
    }
    return own(resultAnswer(message["id"], {}));
  }

  /** Takes a session's subscriptions of before a restart up again. */
  async resume(session: Session): Promise<void> {
    const rows = this.#deployment.host.sql.exec("SELECT uri FROM subscriptions WHERE session = ?", session.key);
    const isKnown = (uri: string) => [...this.#subscriptions.values()].some(({ owner, asked }) => owner === session.key && asked === uri);
    const owner: Owner = { caller: session.key, seen: { era: "legacy", capabilities: session.capabilities } };
    for (const { uri } of rows) if (!isKnown(String(uri))) await this.add(owner, String(uri));
  }

  /** Subscribes an owner to a resource, at the first server that has it. A null outcome: none has. */
  async add(owner: Owner, uri: string): Promise<{ readonly outcome: Outcome | null; readonly source: string }> {
    let last: { outcome: Outcome | null; source: string } = { outcome: null, source: "" };
    for (const place of await this.#routes.placesOf(owner.seen, uri)) {
      const server = this.#deployment.mcpOf(place.source);
      const isModern = server.eraFor(owner.seen.era) === "modern";
      const outcome = isModern ? this.#listenTo(owner, uri, place) : await this.#subscribeTo(owner, uri, place);
      last = { outcome, source: place.source };
      if ("reply" in outcome && outcome.reply["error"] === undefined) return last;
    }
    return last;
  }

  /** The notification as its owner asked for it; null for what it didn't ask for. */
  shownTo(owner: string, source: string, message: JsonObject): JsonObject | null {
    const uri = uriOf(message);
    const subscription = uri === null ? undefined : this.#subscriptions.get(keyOf(owner, source, uri));
    if (subscription === undefined) return null;
    return { ...message, params: { ...(isJsonObject(message["params"]) ? message["params"] : {}), uri: subscription.asked } };
  }

  /** An owner is gone: its listens at modern servers end. Its sessions are ended by whoever ends them all. */
  forget(owner: string): void {
    for (const [key, subscription] of this.#subscriptions) {
      if (subscription.owner !== owner) continue;
      subscription.stop();
      this.#subscriptions.delete(key);
    }
  }

  async #subscribeTo(owner: Owner, asked: string, place: Place): Promise<Outcome> {
    const server = this.#deployment.mcpOf(place.source);
    const lane = server.lanes.take(owner.caller, owner.seen.capabilities);
    const message = (method: string) => ({ jsonrpc: "2.0", method, params: { uri: place.uri } });
    const ask = (method: string) => ({ message: message(method), silenceMs: ASK_MS, heard: () => undefined });
    try {
      const outcome = await server.link.request(lane.session, ask("resources/subscribe"), true);
      if (!("reply" in outcome) || outcome.reply["error"] !== undefined) return outcome;
      lane.session.subscriptions.add(place.uri);
      lane.watch.open();
      this.#keep({ owner: owner.caller, asked, place, stop: () => void this.#unsubscribeFrom(owner, place) });
      return outcome;
    } finally {
      lane.give();
    }
  }

  async #unsubscribeFrom(owner: Owner, place: Place): Promise<void> {
    const server = this.#deployment.mcpOf(place.source);
    const lane = server.lanes.take(owner.caller, owner.seen.capabilities);
    lane.session.subscriptions.delete(place.uri);
    const message = { jsonrpc: "2.0", method: "resources/unsubscribe", params: { uri: place.uri } };
    await server.link.request(lane.session, { message, silenceMs: ASK_MS, heard: () => undefined }, true);
    lane.give();
  }

  #listenTo(owner: Owner, asked: string, place: Place): Outcome {
    const { host, now, settings } = this.#deployment;
    const server = this.#deployment.mcpOf(place.source);
    const message = { jsonrpc: "2.0", method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: [place.uri] } } };
    const watch = new Watch({
      host,
      maxBytes: settings.maxMessageBytes,
      ask: async () => listenStream(server.wire, { message, capabilities: owner.seen.capabilities }),
      now,
      heard: (said) => this.#deployment.hear({ caller: owner.caller, source: place.source, message: said }),
      gone: (reason) => server.link.lost(reason),
    });
    this.#keep({ owner: owner.caller, asked, place, stop: server.keepOpen(watch) });
    return { reply: resultAnswer(null, {}), status: 200, isStream: false };
  }

  #keep(subscription: Subscription): void {
    const { owner, place } = subscription;
    const key = keyOf(owner, place.source, place.uri);
    this.#subscriptions.get(key)?.stop();
    this.#subscriptions.set(key, subscription);
  }
}

function keyOf(owner: string, source: string, uri: string): string {
  return JSON.stringify([owner, source, uri]);
}

function uriOf(message: JsonObject): string | null {
  const uri = isJsonObject(message["params"]) ? message["params"]["uri"] : undefined;
  return typeof uri === "string" ? uri : null;
}
