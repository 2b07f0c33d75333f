import {
  errorAnswer,
  INVALID_PARAMS,
  isJsonObject,
  isLegacyVersion,
  type JsonObject,
  LATEST_LEGACY_VERSION,
  METHOD_NOT_FOUND,
  resultAnswer,
} from "@agent-env/protocol";
import { mayUse } from "../deployment/catalogue.ts";
import type { Deployment } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { Answer } from "./answer.ts";
import { Calls } from "./calls.ts";
import { kindOf } from "./message.ts";

/** One POST of a legacy client. */
export type Turn = {
  readonly answer: Answer;
  readonly role: string;
  /** Missing for a request without a session. */
  readonly session: Session | undefined;
  /** Whose upstream sessions are used. */
  readonly caller: string;
};

/** The revisions with a handshake, served as one server over all servers (6-mcp). */
export class Legacy {
  readonly #deployment: Deployment;
  readonly #calls: Calls;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#calls = new Calls(deployment);
  }

  /** Answers one message. */
  async message(turn: Turn, message: JsonObject): Promise<void> {
    if (kindOf(message) !== "request") {
      this.#notice(turn, message);
      return turn.answer.accepted();
    }
    if (message["method"] === "initialize") return this.#initialize(turn, message);
    const reply = await this.#reply(turn, message);
    if (reply === null) turn.answer.abandon();
    else turn.answer.finish(reply);
  }

  /** Answers a batch of 2025-03-26. */
  async batch(turn: Turn, messages: readonly JsonObject[]): Promise<void> {
    const requests = messages.filter((message) => kindOf(message) === "request");
    for (const message of messages) if (kindOf(message) !== "request") this.#notice(turn, message);
    if (requests.length === 0) return turn.answer.accepted();
    const replies = await Promise.all(requests.map((request) => this.#reply(turn, request)));
    turn.answer.finish(replies.filter((reply) => reply !== null));
  }

  async #initialize(turn: Turn, message: JsonObject): Promise<void> {
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const asked = params["protocolVersion"];
    const version = typeof asked === "string" && isLegacyVersion(asked) ? asked : LATEST_LEGACY_VERSION;
    const { id } = await this.#deployment.sessions.create(turn.role, version);
    await this.#deployment.host.committed();
    const result = {
      protocolVersion: version,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: this.#deployment.name, version: "0.1.0" },
    };
    turn.answer.finish(resultAnswer(message["id"], result), id);
  }

  /** The reply to a request; null if it was cancelled. */
  async #reply(turn: Turn, message: JsonObject): Promise<JsonObject | null> {
    const id = message["id"];
    switch (message["method"]) {
      case "ping":
        return resultAnswer(id, {});
      case "tools/list":
        return await this.#listTools(turn, message);
      case "tools/call":
        return await this.#calls.call(turn, message);
      default:
        return errorAnswer(id, METHOD_NOT_FOUND, `method not found: ${String(message["method"])}`);
    }
  }

  async #listTools(turn: Turn, message: JsonObject): Promise<JsonObject> {
    const params = message["params"];
    if (isJsonObject(params) && params["cursor"] !== undefined) return errorAnswer(message["id"], INVALID_PARAMS, "unknown cursor");
    const { entries } = await this.#deployment.freshCatalogue();
    const tools = entries.filter((entry) => mayUse(this.#deployment.rules, turn.role, entry)).map(({ tool }) => tool);
    return resultAnswer(message["id"], { tools });
  }

  /** Notifications and responses. What isn't known is dropped. */
  #notice(turn: Turn, message: JsonObject): void {
    if (message["method"] === "notifications/cancelled") this.#calls.cancel(turn, message["params"]);
  }
}
