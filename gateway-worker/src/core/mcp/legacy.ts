import {
  errorAnswer,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isJsonObject,
  isLegacyVersion,
  type JsonObject,
  LATEST_LEGACY_VERSION,
  METHOD_NOT_FOUND,
  resultAnswer,
} from "@agent-env/protocol";
import type { Deployment } from "../deployment/deployment.ts";
import type { Calls } from "./calls.ts";
import { keptCapabilities } from "./capabilities.ts";
import { isLogLevel } from "./log-level.ts";
import { kindOf } from "./message.ts";
import type { Questions } from "./questions.ts";
import type { Requests } from "./requests.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { own, type Reply, type Turn } from "./turn.ts";

export type LegacyParts = {
  readonly deployment: Deployment;
  readonly requests: Requests;
  readonly calls: Calls;
  readonly questions: Questions;
  readonly subscriptions: Subscriptions;
};

/** The revisions with a handshake, served as one server over all servers (6-mcp). */
export class Legacy {
  readonly #parts: LegacyParts;

  constructor(parts: LegacyParts) {
    this.#parts = parts;
  }

  /** Answers one message. */
  async message(turn: Turn, message: JsonObject): Promise<void> {
    if (kindOf(message) !== "request") {
      this.#notice(turn, message);
      return turn.answer.accepted();
    }
    if (message["method"] === "initialize") return await this.#initialize(turn, message);
    if (NEEDS_SESSION.includes(String(message["method"])) && turn.session === undefined) {
      const error = { id: message["id"], code: INVALID_REQUEST, message: `${String(message["method"])} needs a session` };
      return turn.answer.refuse(400, error);
    }
    const reply = await this.#reply(turn, message);
    if (reply === null) turn.answer.abandon();
    else turn.answer.finish(reply.message, { asStream: reply.isStream });
  }

  /** Answers a batch of 2025-03-26. */
  async batch(turn: Turn, messages: readonly JsonObject[]): Promise<void> {
    const requests = messages.filter((message) => kindOf(message) === "request");
    for (const message of messages) if (kindOf(message) !== "request") this.#notice(turn, message);
    if (requests.length === 0) return turn.answer.accepted();
    const replies = await Promise.all(requests.map((request) => this.#reply(turn, request)));
    turn.answer.finish(replies.filter((reply) => reply !== null).map(({ message }) => message));
  }

  async #initialize(turn: Turn, message: JsonObject): Promise<void> {
    const { deployment, requests } = this.#parts;
    await deployment.meetLegacy();
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const asked = params["protocolVersion"];
    const version = typeof asked === "string" && isLegacyVersion(asked) ? asked : LATEST_LEGACY_VERSION;
    const { id } = await deployment.sessions.create(turn, version, keptCapabilities(params["capabilities"]));
    await deployment.host.committed();
    const instructions = requests.instructions("legacy");
    const result = {
      protocolVersion: version,
      capabilities: requests.capabilities("legacy"),
      serverInfo: { name: deployment.name, version: "0.1.0" },
      ...(instructions === undefined ? {} : { instructions }),
    };
    turn.answer.finish(resultAnswer(message["id"], result), { session: id });
  }

  async #reply(turn: Turn, message: JsonObject): Promise<Reply> {
    const { deployment, requests } = this.#parts;
    const { id, method } = message;
    if (method === "ping") return own(resultAnswer(id, {}));
    await deployment.meetLegacy();
    const handler = this.#ofSession(method) ?? requests.handlerOf(method, "legacy");
    return handler === undefined
      ? own(errorAnswer(id, METHOD_NOT_FOUND, `method not found: ${String(method)}`))
      : await handler(turn, message);
  }

  /** Who answers what is kept for a session, if any server declares it. */
  #ofSession(method: unknown): ((turn: Turn, message: JsonObject) => Promise<Reply>) | undefined {
    if (!NEEDS_SESSION.includes(String(method))) return undefined;
    const { requests, subscriptions } = this.#parts;
    const { logging, resources } = requests.capabilities("legacy");
    if (method === "logging/setLevel")
      return logging === undefined ? undefined : async (turn, message) => own(await this.#setLevel(turn, message));
    if (!isJsonObject(resources) || resources["subscribe"] !== true) return undefined;
    return method === "resources/subscribe"
      ? (turn, message) => subscriptions.subscribe(turn, message)
      : (turn, message) => subscriptions.unsubscribe(turn, message);
  }

  /** Kept for the session, and told to its legacy servers with their next call. */
  async #setLevel({ session }: Turn, message: JsonObject): Promise<JsonObject> {
    const { deployment } = this.#parts;
    const level = isJsonObject(message["params"]) ? message["params"]["level"] : undefined;
    if (!isLogLevel(level)) return errorAnswer(message["id"], INVALID_PARAMS, `params.level: ${JSON.stringify(level)} is no log level`);
    if (session !== undefined) deployment.sessions.setLevel(session, level);
    await deployment.host.committed();
    return resultAnswer(message["id"], {});
  }

  /** Notifications and responses. What isn't known is dropped. */
  #notice(turn: Turn, message: JsonObject): void {
    const { deployment, calls, questions } = this.#parts;
    const { session } = turn;
    if (kindOf(message) === "response") {
      if (session !== undefined) questions.answer(session.key, message);
    } else if (message["method"] === "notifications/cancelled") calls.cancel(turn, message["params"]);
    else if (message["method"] === "notifications/roots/list_changed" && session !== undefined)
      for (const { mcp } of deployment.serving()) mcp.lanes.notify(session.key, message);
  }
}

/** What is kept for a session. */
const NEEDS_SESSION = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
