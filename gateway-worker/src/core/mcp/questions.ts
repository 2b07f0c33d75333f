import { errorAnswer, INTERNAL_ERROR, type JsonObject } from "@agent-env/protocol";
import type { Limits } from "../limits.ts";

/** A way to a legacy client: false if what it was given can't be sent. */
export type Ask = (request: JsonObject) => boolean;

type Waiting = { readonly session: string; readonly answered: (reply: JsonObject) => void };

/** What legacy clients were asked and haven't answered yet. An answer counts only in the session that was asked. */
export class Questions {
  readonly #waiting = new Map<string, Waiting>();
  readonly #waitMs: number;
  readonly #most: number;
  /** So that no answer to a question of before a restart is taken for one of now. */
  readonly #mark = crypto.randomUUID().slice(0, 8);
  #last = 0;

  constructor({ inputWaitMs, maxQuestions }: Pick<Limits, "inputWaitMs" | "maxQuestions">) {
    this.#waitMs = inputWaitMs;
    this.#most = maxQuestions;
  }

  /** Asks a client under an id of the gateway's own. Gives its reply, or an error in its place. */
  ask(session: string, request: JsonObject, send: Ask): Promise<JsonObject> {
    const failed = (why: string) => errorAnswer(request["id"] ?? null, INTERNAL_ERROR, why);
    if (this.#waiting.size >= this.#most) return Promise.resolve(failed("too many questions are waiting for clients"));
    const id = `${this.#mark}-${++this.#last}`;
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    const timer = setTimeout(() => this.#settle(id, failed(`the client did not answer within ${this.#waitMs / 1000}s`)), this.#waitMs);
    this.#waiting.set(id, {
      session,
      answered: (reply) => {
        clearTimeout(timer);
        resolve(reply);
      },
    });
    if (!send({ ...request, id })) this.#settle(id, failed("the client has no stream on which it could be asked"));
    return promise;
  }

  /** Takes a client's response. One that nobody waits for is dropped. */
  answer(session: string, response: JsonObject): void {
    const id = response["id"];
    if (typeof id === "string" && this.#waiting.get(id)?.session === session) this.#settle(id, response);
  }

  /** A session has ended: it won't answer any more. */
  forget(session: string): void {
    for (const [id, waiting] of this.#waiting)
      if (waiting.session === session) this.#settle(id, errorAnswer(null, INTERNAL_ERROR, "the client's session has ended"));
  }

  #settle(id: string, reply: JsonObject): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.answered(reply);
  }
}
