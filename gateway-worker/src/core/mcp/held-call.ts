import { errorAnswer, INTERNAL_ERROR, isJsonObject, type JsonObject, resultAnswer } from "@agent-env/protocol";
import type { Outcome } from "./link.ts";

/** What a held call has come to: its outcome, or what the server asks meanwhile. */
export type Step = { readonly outcome: Outcome | null } | { readonly questions: ReadonlyMap<string, JsonObject> };

type Open = { readonly request: JsonObject; readonly answered: (reply: JsonObject) => void };

/** A modern client's call at a legacy server, which waits there while the client is asked in its own way (6-mcp §10). */
export class HeldCall {
  readonly #cancel: (reason: string) => void;
  readonly #open = new Map<string, Open>();
  /** What the client has been shown: the server may ask more before the client is back. */
  #shown: readonly string[] = [];
  #outcome: Outcome | null = null;
  #isDone = false;
  #step = Promise.withResolvers<void>();
  #lastKey = 0;

  constructor(cancel: (reason: string) => void) {
    this.#cancel = cancel;
  }

  /** Follows the call itself. */
  async follow(call: Promise<Outcome | null>): Promise<void> {
    try {
      this.#outcome = await call;
    } finally {
      this.#isDone = true;
      this.#step.resolve();
    }
  }

  /** The server asks: waits for the client's answer. */
  asked(request: JsonObject): Promise<JsonObject> {
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    this.#open.set(`q${++this.#lastKey}`, { request, answered: resolve });
    this.#step.resolve();
    return promise;
  }

  /** Waits for the outcome or the next questions. */
  async next(): Promise<Step> {
    while (!this.#isDone && this.#open.size === 0) {
      await this.#step.promise;
      if (!this.#isDone && this.#open.size === 0) this.#step = Promise.withResolvers<void>();
    }
    return this.#isDone ? { outcome: this.#outcome } : this.questions();
  }

  /** What is to be answered. */
  questions(): { readonly questions: ReadonlyMap<string, JsonObject> } {
    this.#shown = [...this.#open.keys()];
    const asked = [...this.#open].map(([key, { request }]): [string, JsonObject] => [key, inputRequest(request)]);
    return { questions: new Map(asked) };
  }

  /** Gives the client's answers to the server. False: some are missing, and none was given. */
  answer(responses: unknown): boolean {
    const given = isJsonObject(responses) ? responses : {};
    if (this.#shown.some((key) => !isJsonObject(given[key]))) return false;
    this.#step = Promise.withResolvers<void>();
    for (const key of this.#shown) {
      const open = this.#open.get(key);
      this.#open.delete(key);
      open?.answered(resultAnswer(open.request["id"], given[key]));
    }
    return true;
  }

  /** The client won't come back: its open questions are answered for it, and the call is cancelled. */
  giveUp(reason: string): void {
    for (const { request, answered } of this.#open.values()) {
      const isForm = request["method"] === "elicitation/create";
      answered(isForm ? resultAnswer(request["id"], { action: "cancel" }) : errorAnswer(request["id"], INTERNAL_ERROR, reason));
    }
    this.#open.clear();
    this.#cancel(reason);
  }
}

/** A legacy server's request as a modern client is asked it: without an id, which the key stands for. */
function inputRequest({ method, params }: JsonObject): JsonObject {
  if (!isJsonObject(params)) return { method, params: {} };
  const { _meta, elicitationId, ...asked } = params;
  const isForm = method === "elicitation/create" && asked["mode"] === undefined;
  return { method, params: isForm ? { mode: "form", ...asked } : asked };
}
