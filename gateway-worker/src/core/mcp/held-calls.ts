import type { Limits } from "../limits.ts";
import type { HeldCall } from "./held-call.ts";

/** Calls that wait for a modern client to come back with answers. Each may be taken up once. */
export class HeldCalls {
  readonly #held = new Map<string, { readonly call: HeldCall; readonly timer: ReturnType<typeof setTimeout> }>();
  readonly #waitMs: number;
  readonly #most: number;

  constructor({ inputWaitMs, maxQuestions }: Pick<Limits, "inputWaitMs" | "maxQuestions">) {
    this.#waitMs = inputWaitMs;
    this.#most = maxQuestions;
  }

  /** Keeps a call; gives the number under which it is taken up. Null: too many are waiting. */
  keep(call: HeldCall): string | null {
    if (this.#held.size >= this.#most) return null;
    const number = crypto.randomUUID();
    const timer = setTimeout(() => this.take(number)?.giveUp("the client did not come back"), this.#waitMs);
    this.#held.set(number, { call, timer });
    return number;
  }

  /** Takes a call up; undefined where nothing is held under that number any more. */
  take(number: string): HeldCall | undefined {
    const held = this.#held.get(number);
    if (held === undefined) return undefined;
    clearTimeout(held.timer);
    this.#held.delete(number);
    return held.call;
  }
}
