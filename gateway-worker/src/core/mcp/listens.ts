import {
  INVALID_PARAMS,
  isJsonObject,
  type JsonObject,
  resultAnswer,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_META_KEY,
} from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Deployment } from "../deployment/deployment.ts";
import { changedBetween, type Looks, looksTo } from "./changes.ts";
import { KINDS } from "./item-kinds.ts";
import type { Requests } from "./requests.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Turn } from "./turn.ts";

/** Which notification each kind of change is told by. */
const LISTS: Readonly<Record<string, string>> = {
  toolsListChanged: KINDS.tools.changed,
  promptsListChanged: KINDS.prompts.changed,
  resourcesListChanged: KINDS.resources.changed,
};

type Listen = { readonly turn: Turn; readonly id: unknown; readonly methods: readonly string[]; looks: Looks };

/** The `subscriptions/listen` streams of modern clients. */
export class Listens {
  readonly #deployment: Deployment;
  readonly #requests: Requests;
  readonly #subscriptions: Subscriptions;
  readonly #listens = new Map<string, Listen>();
  #last = 0;

  constructor(parts: { deployment: Deployment; requests: Requests; subscriptions: Subscriptions }) {
    this.#deployment = parts.deployment;
    this.#requests = parts.requests;
    this.#subscriptions = parts.subscriptions;
    parts.deployment.onListsChanged(() => this.#tellChanged());
  }

  /** Answers a listen: the stream stays open. */
  async open(turn: Turn, message: JsonObject): Promise<void> {
    const { id, params } = message;
    const asked = isJsonObject(params) ? params["notifications"] : undefined;
    if (!isJsonObject(asked))
      return turn.answer.finish({ jsonrpc: "2.0", id, error: { code: INVALID_PARAMS, message: "params.notifications must be an object" } });
    const honoured = this.#honoured(asked);
    const key = `listen:${++this.#last}`;
    const methods = Object.keys(honoured).flatMap((kind) => LISTS[kind] ?? []);
    const listen = { turn, id, methods, looks: looksTo(this.#requests, turn, turn.role) };
    turn.answer.onGone(() => this.#end(key));
    this.#say(listen, { method: "notifications/subscriptions/acknowledged", params: { notifications: honoured } });
    if (Object.keys(honoured).length === 0) return turn.answer.finish(this.#ending(id));
    this.#listens.set(key, listen);
    const { resourceSubscriptions = [] } = honoured;
    for (const uri of Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [])
      inBackground(this.#deployment.host, this.#subscribe(key, turn, String(uri)));
  }

  /** Passes on what a server says to a listen. False: there is none of that name. */
  hear(owner: string, source: string, message: JsonObject): boolean {
    const listen = this.#listens.get(owner);
    const shown = message["method"] === "notifications/resources/updated" ? this.#subscriptions.shownTo(owner, source, message) : null;
    if (listen !== undefined && shown !== null) this.#say(listen, shown);
    return listen !== undefined;
  }

  async #subscribe(key: string, turn: Turn, uri: string): Promise<void> {
    await this.#subscriptions.add({ caller: key, seen: turn }, uri);
    if (!this.#listens.has(key)) this.#end(key);
  }

  #honoured(asked: JsonObject): JsonObject {
    const declared = this.#requests.capabilities("modern");
    const can = (capability: string, what: string): boolean => isJsonObject(declared[capability]) && declared[capability][what] === true;
    const uris = asked["resourceSubscriptions"];
    return {
      ...(asked["toolsListChanged"] === true && can("tools", "listChanged") ? { toolsListChanged: true } : {}),
      ...(asked["promptsListChanged"] === true && can("prompts", "listChanged") ? { promptsListChanged: true } : {}),
      ...(asked["resourcesListChanged"] === true && can("resources", "listChanged") ? { resourcesListChanged: true } : {}),
      ...(Array.isArray(uris) && uris.length > 0 && can("resources", "subscribe") ? { resourceSubscriptions: uris } : {}),
    };
  }

  #tellChanged(): void {
    for (const listen of this.#listens.values()) {
      const looks = looksTo(this.#requests, listen.turn, listen.turn.role);
      const changed = changedBetween(listen.looks, looks);
      listen.looks = looks;
      for (const method of changed) if (listen.methods.includes(method)) this.#say(listen, { method });
    }
  }

  /** Every message of a listen says which it is of. */
  #say({ turn, id }: Pick<Listen, "turn" | "id">, { method, params }: JsonObject): void {
    const given = isJsonObject(params) ? params : {};
    const meta = isJsonObject(given["_meta"]) ? given["_meta"] : {};
    void turn.answer.say({ jsonrpc: "2.0", method, params: { ...given, _meta: { ...meta, [SUBSCRIPTION_META_KEY]: id } } });
  }

  #ending(id: unknown): JsonObject {
    const serverInfo = { name: this.#deployment.name, version: "0.1.0" };
    return resultAnswer(id, { resultType: "complete", _meta: { [SUBSCRIPTION_META_KEY]: id, [SERVER_INFO_META_KEY]: serverInfo } });
  }

  #end(key: string): void {
    this.#listens.delete(key);
    this.#subscriptions.forget(key);
    this.#deployment.endCaller(key);
  }
}
