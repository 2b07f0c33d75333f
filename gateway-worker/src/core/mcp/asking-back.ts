import {
  errorAnswer,
  INVALID_PARAMS,
  isJsonObject,
  type JsonObject,
  MISSING_CAPABILITY,
  resultAnswer,
  URL_ELICITATION_REQUIRED,
} from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Deployment } from "../deployment/deployment.ts";
import { capabilityKey, NOTHING } from "./capabilities.ts";
import { HeldCall, type Step } from "./held-call.ts";
import { HeldCalls } from "./held-calls.ts";
import type { Outcome } from "./link.ts";
import type { LiveCall } from "./live-call.ts";
import type { Questions } from "./questions.ts";
import type { Relay, Target } from "./relay.ts";
import { RequestStates, requestDigest } from "./request-state.ts";
import type { Turn } from "./turn.ts";

/** What came of a request of which the client may have been asked something. Null: cancelled. */
export type Asked = Outcome | { readonly required: JsonObject } | { readonly refused: JsonObject } | null;

/** Requests during which a server may ask the client, in all four pairs of eras (6-mcp §10). */
export class AskingBack {
  readonly #deployment: Deployment;
  readonly #relay: Relay;
  readonly #questions: Questions;
  readonly #held: HeldCalls;
  readonly #states: RequestStates;
  /** The calls that held calls make. */
  readonly #lives = new WeakMap<HeldCall, LiveCall>();

  constructor(deployment: Deployment, relay: Relay, questions: Questions) {
    const { settings, vault, now, name, host } = deployment;
    this.#deployment = deployment;
    this.#relay = relay;
    this.#questions = questions;
    this.#held = new HeldCalls(settings);
    this.#states = new RequestStates({ vault, deployment: host.record().deployment_id ?? name, validMs: settings.inputWaitMs, now });
  }

  /** Sends a request. What its server asks meanwhile goes to the client in the client's own way. */
  async send(turn: Turn, message: JsonObject, target: Target): Promise<Asked> {
    const isLegacyServer = this.#deployment.mcpOf(target.source).eraFor(turn.era) === "legacy";
    const state = target.params["requestState"];
    if (turn.era === "modern" && (this.#states.isOurs(state) || (isLegacyServer && state !== undefined)))
      return await this.#resume(turn, message, target, state);
    const call = this.#relay.callOf(turn, target.params);
    const canBeAsked = capabilityKey(turn.capabilities) !== capabilityKey(NOTHING);
    if (turn.era === "modern" && isLegacyServer && canBeAsked) return await this.#hold(call, message, target);
    if (turn.era === "modern") turn.answer.onGone(() => call.cancel("the client left"));
    const asked = canBeAsked && turn.era === "legacy" ? (request: JsonObject) => this.#askLegacy(turn, request) : undefined;
    return await this.#withoutUrls(turn, message, target, await this.#relay.send(call, message, target, asked));
  }

  #askLegacy(turn: Turn, request: JsonObject): Promise<JsonObject> {
    return this.#questions.ask(turn.session?.key ?? "", request, (question) => {
      if (!turn.answer.open()) return false;
      void turn.answer.say(question);
      return true;
    });
  }

  async #hold(call: LiveCall, message: JsonObject, target: Target): Promise<Asked> {
    const held = new HeldCall((reason) => call.cancel(reason));
    this.#lives.set(held, call);
    const sending = this.#relay.send(call, message, target, (request) => held.asked(request));
    inBackground(this.#deployment.host, held.follow(sending));
    return await this.#follow(call.turn, message, target, held);
  }

  /** Waits for the call's outcome, or gives its questions to the client. */
  async #follow(turn: Turn, message: JsonObject, target: Target, held: HeldCall): Promise<Asked> {
    turn.answer.onGone(() => held.giveUp("the client left"));
    return await this.#shown(turn, message, target, held, await held.next());
  }

  async #shown(turn: Turn, message: JsonObject, target: Target, held: HeldCall, step: Step): Promise<Asked> {
    if ("outcome" in step) return await this.#withoutUrls(turn, message, target, step.outcome);
    const number = this.#held.keep(held);
    if (number === null) {
      held.giveUp("too many calls wait for their clients");
      return { trouble: { reason: "busy", detail: "too many calls wait for their clients", delivered: true } };
    }
    return { required: await this.#required("held", turn, message, target, { number, requests: Object.fromEntries(step.questions) }) };
  }

  async #required(
    what: "held" | "again",
    turn: Turn,
    message: JsonObject,
    target: Target,
    { number, requests }: { number: string; requests: JsonObject },
  ): Promise<JsonObject> {
    const of = { what, caller: turn.caller, server: target.source, digest: requestDigest({ ...message, params: target.params }) };
    const requestState = await this.#states.seal(of, number);
    return resultAnswer(message["id"], { resultType: "input_required", inputRequests: requests, requestState });
  }

  async #resume(turn: Turn, message: JsonObject, target: Target, state: unknown): Promise<Asked> {
    const refused = { refused: errorAnswer(message["id"], INVALID_PARAMS, "unknown requestState") };
    const digest = requestDigest({ ...message, params: target.params });
    const opened = this.#states.isOurs(state)
      ? await this.#states.open(state, { caller: turn.caller, server: target.source, digest })
      : null;
    if (opened === null) return refused;
    if (opened.what === "again") {
      const { requestState, inputResponses, ...params } = target.params;
      return await this.send(turn, message, { ...target, params });
    }
    const held = this.#held.take(opened.number);
    if (held === undefined && opened.boot === this.#states.boot) return refused;
    if (held === undefined) {
      const detail = "the gateway has restarted since it asked; the call may have run";
      return { trouble: { reason: "outcome_unknown", detail, delivered: null } };
    }
    const call = this.#lives.get(held);
    if (call !== undefined) call.turn = turn;
    // with answers missing the same is asked again
    if (!held.answer(target.params["inputResponses"])) return await this.#shown(turn, message, target, held, held.questions());
    return await this.#follow(turn, message, target, held);
  }

  /** A legacy server's demand that addresses be opened first, as a modern client is asked it: it calls again when that is done. */
  async #withoutUrls(turn: Turn, message: JsonObject, target: Target, outcome: Outcome | null): Promise<Asked> {
    const error = outcome !== null && "reply" in outcome ? outcome.reply["error"] : undefined;
    if (turn.era !== "modern" || !isJsonObject(error) || error["code"] !== URL_ELICITATION_REQUIRED) return outcome;
    const { elicitation } = turn.capabilities;
    if (!isJsonObject(elicitation) || elicitation["url"] === undefined) {
      const data = { requiredCapabilities: { elicitation: { url: {} } } };
      return { refused: errorAnswer(message["id"], MISSING_CAPABILITY, "the tool needs a client that can open addresses", data) };
    }
    const urls = isJsonObject(error["data"]) && Array.isArray(error["data"]["elicitations"]) ? error["data"]["elicitations"] : [];
    const requests = urls.filter(isJsonObject).map((asked, at): [string, JsonObject] => {
      const { elicitationId, ...params } = asked;
      return [`url${at + 1}`, { method: "elicitation/create", params }];
    });
    const number = crypto.randomUUID();
    return { required: await this.#required("again", turn, message, target, { number, requests: Object.fromEntries(requests) }) };
  }
}
