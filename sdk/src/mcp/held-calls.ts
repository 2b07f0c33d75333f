import { createHash, randomBytes } from "node:crypto";
import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { ANSWER_BUDGET_MS, type ClientLine, type LogLevel, type Question } from "../client-line.ts";
import { followRequests } from "../context.ts";
import { InvalidParams } from "./failure.ts";

/** Beyond this number of calls that wait for an answer, the one that waits the longest gets none. */
const MAX_HELD = 1_000;

/** One request of the modern era, as far as the work behind it may speak with the client. It ends with its answer. */
export type Exchange = {
  readonly signal: AbortSignal;
  readonly capabilities: JsonObject;
  readonly progressToken: string | number | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly notify: (method: string, params: JsonObject) => Promise<void>;
};

/** What a request says of the call that it begins or goes on with. */
export type Turn = {
  /** What is asked for, and by whom: a later turn must say the same. */
  readonly asked: unknown;
  /** What the client was given with the questions that it answers now. */
  readonly state: string | undefined;
  readonly responses: JsonObject;
};

/** A call's result, or what the client is asked first. */
export type Outcome<T> = { readonly result: T } | { readonly questions: ReadonlyMap<string, Question>; readonly state: string };

/**
 * The calls that ask their client something. In the modern era a server can't send a request: it answers the call with its
 * questions, and the client makes the call again with the answers. The work goes on meanwhile, and is never begun twice.
 */
export class HeldCalls<T> {
  readonly #answerBudgetMs: number;
  /** In the order in which they were asked, by the state that their client has. */
  readonly #held = new Map<string, HeldCall<T>>();

  constructor(answerBudgetMs = ANSWER_BUDGET_MS) {
    this.#answerBudgetMs = answerBudgetMs;
  }

  /** Begins the work, or goes on with the one that the client answers. Throws `InvalidParams` for a state that isn't this call's. */
  async take(turn: Turn, exchange: Exchange, work: (line: ClientLine) => Promise<T>): Promise<Outcome<T>> {
    const identity = createHash("sha256").update(JSON.stringify(turn.asked)).digest("hex");
    const call = turn.state === undefined ? new HeldCall(identity, exchange.capabilities, work) : this.#resume(turn.state, identity);
    const outcome = await call.turn(exchange, turn.responses);
    return "result" in outcome ? outcome : { questions: outcome.questions, state: this.#hold(call) };
  }

  #resume(state: string, identity: string): HeldCall<T> {
    const call = this.#held.get(state);
    if (call === undefined || call.identity !== identity) throw new InvalidParams("Invalid or expired requestState");
    this.#held.delete(state);
    call.stopWaiting();
    return call;
  }

  #hold(call: HeldCall<T>): string {
    const state = randomBytes(16).toString("hex");
    this.#held.set(state, call);
    const giveUp = () => {
      if (this.#held.delete(state)) call.abandon();
    };
    call.waitUntil(giveUp, this.#answerBudgetMs);
    const [oldest] = this.#held.values();
    if (this.#held.size > MAX_HELD) oldest?.giveUp();
    return state;
  }
}

type Open = Question & { readonly answer: (value: unknown) => void; readonly fail: (reason: Error) => void };

/** One call, over all the requests that it takes. */
class HeldCall<T> {
  readonly identity: string;
  readonly #cancelled = new AbortController();
  readonly #result: Promise<T>;
  readonly #toThisRequest = followRequests();
  readonly #open = new Map<string, Open>();
  #exchange: Exchange | null = null;
  #asked = Promise.withResolvers<void>();
  #questionsSoFar = 0;
  #giveUp: (() => void) | undefined;
  #budget: NodeJS.Timeout | undefined;

  constructor(identity: string, capabilities: JsonObject, work: (line: ClientLine) => Promise<T>) {
    this.identity = identity;
    const line: ClientLine = {
      signal: this.#cancelled.signal,
      capabilities,
      progressToken: () => this.#exchange?.progressToken,
      logLevel: () => this.#exchange?.logLevel,
      notify: async (method, params) => await this.#exchange?.notify(method, params),
      ask: (question) => this.#ask(question),
    };
    // The first turn sets the exchange before the work runs.
    this.#result = Promise.resolve().then(() => work(line));
    // Each turn looks at it; between turns nobody does.
    this.#result.catch(() => undefined);
  }

  /** Gives the answers to whoever waits for them, and tells what comes first: the result, or questions. */
  async turn(exchange: Exchange, responses: JsonObject): Promise<{ readonly result: T } | { readonly questions: Map<string, Question> }> {
    this.#exchange = exchange;
    this.#toThisRequest();
    const left = () => this.#cancelled.abort(exchange.signal.reason);
    exchange.signal.addEventListener("abort", left, { once: true });
    try {
      this.#answer(responses);
      return await Promise.race([this.#result.then((result) => ({ result })), this.#questions()]);
    } finally {
      exchange.signal.removeEventListener("abort", left);
      this.#exchange = null;
    }
  }

  waitUntil(giveUp: () => void, budgetMs: number): void {
    this.#giveUp = giveUp;
    this.#budget = setTimeout(giveUp, budgetMs).unref();
  }

  stopWaiting(): void {
    clearTimeout(this.#budget);
  }

  giveUp(): void {
    this.#giveUp?.();
  }

  /** Nobody answers any more: a person's answer is `cancel`, any other an error, and then the call is cancelled. */
  abandon(): void {
    this.stopWaiting();
    for (const { method, answer, fail } of this.#open.values()) {
      if (method === "elicitation/create") answer({ action: "cancel" });
      else fail(new Error(`${method}: the client did not answer`));
    }
    this.#open.clear();
    this.#cancelled.abort(new Error("the client did not come back"));
  }

  #ask(question: Question): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#cancelled.signal.aborted) return Promise.reject(this.#cancelled.signal.reason);
    const key = question.key ?? `question-${++this.#questionsSoFar}`;
    if (this.#open.has(key)) return Promise.reject(new Error(`the question ${JSON.stringify(key)} is open already`));
    this.#open.set(key, { ...question, answer: resolve, fail: reject });
    this.#asked.resolve();
    return promise;
  }

  #answer(responses: JsonObject): void {
    for (const [key, { answer }] of this.#open) {
      if (!isJsonObject(responses[key])) continue;
      this.#open.delete(key);
      answer(responses[key]);
    }
    this.#asked = Promise.withResolvers();
    if (this.#open.size > 0) this.#asked.resolve();
  }

  /** The questions that are open, once there are some: all that the work asks in one go. */
  async #questions(): Promise<{ readonly questions: Map<string, Question> }> {
    await this.#asked.promise;
    await new Promise((resolve) => setImmediate(resolve));
    return { questions: new Map([...this.#open].map(([key, { method, params }]) => [key, { method, params }])) };
  }
}
