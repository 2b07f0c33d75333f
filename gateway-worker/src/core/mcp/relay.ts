import { isJsonObject, type JsonObject, ROLE_META_KEY, SESSION_META_KEY } from "@agent-env/protocol";
import type { Deployment } from "../deployment/deployment.ts";
import type { Field } from "../seam.ts";
import type { Ask, Channel, Era } from "./channel.ts";
import { contradictsModern } from "./discover.ts";
import type { TakenLane } from "./lanes.ts";
import type { Outcome } from "./link.ts";
import { LiveCall } from "./live-call.ts";
import { LiveCalls } from "./live-calls.ts";
import { ModernChannel } from "./modern-channel.ts";
import type { Questions } from "./questions.ts";
import { answersOf, retryParams } from "./rounds.ts";
import { Slots } from "./slots.ts";
import type { TaskOwner } from "./task-book.ts";
import type { Turn } from "./turn.ts";
import type { UpstreamServer } from "./upstream-server.ts";

/** How often a modern server may ask within one call. */
const MAX_ROUNDS = 16;
/** Some servers answer a request for their notification stream only once they have something to say. */
const STREAM_MS = 500;

/** Where a request goes, and what it is there. */
export type Target = {
  readonly source: string;
  /** With the server's own names. */
  readonly params: JsonObject;
  readonly mayRepeat: boolean;
  /** Arguments that a modern server wants as headers, too. */
  readonly fields: readonly Field[];
  /** What it is about was made in this session. It waits in no line: a task's result may be long in coming. */
  readonly madeIn?: Pick<TaskOwner, "lane" | "capabilities">;
};

/** Takes requests to servers, and their replies back: one message there, whatever it takes. */
export class Relay {
  readonly #deployment: Deployment;
  readonly #questions: Questions;
  readonly #live = new LiveCalls();
  /** In the mode `consistent` one call is under way at a time, whatever its server. */
  readonly #turns: Slots;
  #lastToken = 0;

  constructor(deployment: Deployment, questions: Questions) {
    this.#deployment = deployment;
    this.#questions = questions;
    const isConsistent = deployment.host.record().gateway_mode === "consistent";
    this.#turns = new Slots(isConsistent ? 1 : Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** A new call of a turn. */
  callOf(turn: Turn, params: JsonObject): LiveCall {
    const token = isJsonObject(params["_meta"]) ? params["_meta"]["progressToken"] : undefined;
    return new LiveCall(this.#deployment.host, turn, { token, ownToken: ++this.#lastToken });
  }

  /**
   * The server's reply to a request; null if it was cancelled. `asked` answers what a legacy server asks meanwhile.
   */
  async send(call: LiveCall, message: JsonObject, target: Target, asked?: Ask["asked"]): Promise<Outcome | null> {
    const entry = this.#live.add(call, message["id"]);
    const turns = call.turn.trigger === undefined && target.madeIn === undefined ? this.#turns : null;
    await turns?.take();
    try {
      const server = this.#deployment.mcpOf(target.source);
      const outcome = await this.#inSomeEra(call, message, target, server, asked);
      return call.isCancelled ? null : outcome;
    } finally {
      turns?.give();
      this.#live.remove(entry);
    }
  }

  /** Cancels the call that a legacy client's notification names. */
  cancel(turn: Turn, params: unknown): void {
    if (!isJsonObject(params)) return;
    this.#live.only(turn, params["requestId"])?.cancel(params["reason"]);
  }

  async #inSomeEra(
    call: LiveCall,
    message: JsonObject,
    target: Target,
    server: UpstreamServer,
    asked: Ask["asked"],
  ): Promise<Outcome | null> {
    for (let isAgain = false; ; isAgain = true) {
      if (call.isCancelled) return null;
      const era = server.eraFor(call.turn.era);
      const send = () =>
        era === "modern" ? this.#modern(call, message, target, server) : this.#legacy(call, message, target, server, asked);
      const outcome = await send();
      if (outcome === null || isAgain || !contradicts(outcome, era)) return outcome;
      await server.reconsider();
      if (era === "legacy" && server.eraFor(call.turn.era) === "legacy") return outcome;
    }
  }

  async #legacy(call: LiveCall, message: JsonObject, target: Target, server: UpstreamServer, asked: Ask["asked"]): Promise<Outcome> {
    const { turn } = call;
    const isHeld = asked !== undefined && turn.era === "modern";
    const lane = isHeld ? server.lanes.takeAlone(turn.caller, turn.capabilities, asked) : this.#lane(turn, target, server);
    call.session = lane.session;
    try {
      if (typeof turn.logLevel === "string" && server.greetingFor("legacy")?.capabilities["logging"] !== undefined)
        await lane.session.setLevel(turn.logLevel);
      const { inputResponses, requestState, task, ...params } = target.params;
      // a modern client has no use for a task of this kind
      const taken = task === undefined || turn.era === "modern" ? params : { ...params, task };
      return await this.#request(
        call,
        { ...message, params: taken },
        { ...target, fields: [] },
        { server, channel: isHeld ? heard(lane) : lane.session, asked },
      );
    } finally {
      lane.give();
    }
  }

  #lane({ caller, capabilities }: Turn, { madeIn }: Target, server: UpstreamServer): TakenLane {
    return server.lanes.take(madeIn?.lane ?? caller, madeIn?.capabilities ?? capabilities);
  }

  /** A legacy client of a modern server is asked what the server's results ask for, and the call is made again with its answers. */
  async #modern(call: LiveCall, message: JsonObject, target: Target, server: UpstreamServer): Promise<Outcome | null> {
    const { turn } = call;
    const { capabilities, logLevel } = turn;
    const channel = new ModernChannel(server.wire, { capabilities, ...(typeof logLevel === "string" ? { logLevel } : {}) });
    let { params } = target;
    for (let round = 1; ; round++) {
      const outcome = await this.#request(call, { ...message, params }, target, { server, channel, asked: undefined });
      const result = "reply" in outcome ? outcome.reply["result"] : undefined;
      if (turn.era === "modern" || !isJsonObject(result) || result["resultType"] !== "input_required") return outcome;
      if (call.isCancelled) return null;
      const answers = round > MAX_ROUNDS ? "it asked more than 16 times" : await answersOf(result, turn, this.#questions);
      if (typeof answers === "string") return { trouble: { reason: "bad_answer", detail: answers, delivered: true } };
      params = retryParams(target.params, result, answers);
    }
  }

  async #request(
    call: LiveCall,
    message: JsonObject,
    target: Target,
    to: { server: UpstreamServer; channel: Channel; asked: Ask["asked"] },
  ): Promise<Outcome> {
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const ask: Ask = {
      message: { ...message, params: { ...params, _meta: stamped(call, params["_meta"]) } },
      silenceMs: this.#deployment.settings.toolCallTimeoutMs,
      heard: (said) => call.heard(said),
      asked: to.asked,
      sent: (id) => call.sent(id),
      paused: (retryMs) => call.turn.answer.pause(retryMs),
      fields: [...call.turn.fields.filter(([name]) => !target.fields.some(([other]) => other === name)), ...target.fields],
      cancellation: call.cancellation,
    };
    return await to.server.link.request(to.channel, ask, target.mayRepeat);
  }
}

/** Whether a server shows that it doesn't speak the era in which it was asked: then it surely did nothing. */
function contradicts(outcome: Outcome, era: Era): boolean {
  if (era === "modern") return contradictsModern(outcome.status, "reply" in outcome ? outcome.reply : undefined);
  return "trouble" in outcome && outcome.trouble.reason === "bad_answer" && outcome.trouble.delivered === false;
}

/** A session in which the server is listened to before anything is sent: what it asks on its notification stream would be lost else. */
function heard({ session, watch }: TakenLane): Channel {
  return {
    era: session.era,
    opened: async () => {
      await session.opened();
      await watch.opened(STREAM_MS);
    },
    request: (ask) => session.request(ask),
  };
}

/** The caller's `_meta` without what only the gateway may say, and with that (6-mcp §6, 3-wire §tools 6). */
function stamped(call: LiveCall, meta: unknown): JsonObject {
  const { turn, tokenToSend } = call;
  const session = turn.session?.key ?? turn.namedSession;
  const role = turn.trigger === undefined ? turn.role : turn.trigger.role;
  const callers = Object.entries(isJsonObject(meta) ? meta : {});
  const kept = callers.filter(
    ([key]) => !key.startsWith("agentenv.io/") && !key.startsWith("io.modelcontextprotocol/") && key !== "progressToken",
  );
  return {
    ...Object.fromEntries(kept),
    ...(tokenToSend === undefined ? {} : { progressToken: tokenToSend }),
    ...(role === null ? {} : { [ROLE_META_KEY]: role }),
    ...(session === undefined ? {} : { [SESSION_META_KEY]: session }),
  };
}
