import { Fault } from "../seam.ts";
import { Timer } from "../timing.ts";
import type { Cancellation } from "./cancellation.ts";

/** However often an exchange shows signs of life. */
export const LONGEST_EXCHANGE_MS = 3_600_000;

/** Ends an exchange that is silent too long, or that nobody wants any more. */
export class Deadline {
  readonly #silenceMs: number;
  readonly #cancellation: Cancellation | undefined;
  readonly #lastMs = Date.now() + LONGEST_EXCHANGE_MS;
  readonly #timer = new Timer();
  #fault: Fault | null = null;
  #giveUp: (fault: Fault) => void = () => undefined;
  #abort: () => void = () => undefined;

  constructor(silenceMs: number, cancellation: Cancellation | undefined) {
    this.#silenceMs = silenceMs;
    this.#cancellation = cancellation;
    this.sign();
    cancellation?.tell(() => this.#end(new Fault("unknown", "cancelled")));
  }

  /** Breaks off what is under way. */
  get abort(): () => void {
    return this.#abort;
  }

  /** At once, where the end has come before what is under way. */
  set abort(abort: () => void) {
    this.#abort = abort;
    if (this.#fault !== null) abort();
  }

  /** The server has shown that it lives. */
  sign(): void {
    const leftMs = Math.min(this.#silenceMs, this.#lastMs - Date.now());
    this.#timer.set(leftMs, () => this.#end(new Fault("timeout", `no answer within ${this.#silenceMs / 1000}s`)));
  }

  /** The outcome of `work`, or the fault that ended it. One work at a time. */
  orEnd<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject);
      this.#giveUp = reject;
      if (this.#fault !== null) reject(this.#fault);
    });
  }

  stop(): void {
    this.#cancellation?.tell(null);
    this.#timer.stop();
  }

  #end(fault: Fault): void {
    this.#fault ??= fault;
    this.#abort();
    this.#giveUp(this.#fault);
  }
}
