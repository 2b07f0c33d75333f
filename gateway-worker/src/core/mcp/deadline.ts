import { Fault } from "../seam.ts";
import { Timer } from "../timing.ts";

/** However often an exchange shows signs of life. */
export const LONGEST_EXCHANGE_MS = 3_600_000;

/** Ends an exchange that is silent too long, or that nobody wants any more. */
export class Deadline {
  readonly #silenceMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #lastMs = Date.now() + LONGEST_EXCHANGE_MS;
  readonly #ended = Promise.withResolvers<never>();
  readonly #onAbort = (): void => this.#end(new Fault("unknown", "cancelled"));
  readonly #timer = new Timer();
  /** Breaks off what is under way. */
  abort: () => void = () => undefined;

  constructor(silenceMs: number, signal: AbortSignal | undefined) {
    this.#silenceMs = silenceMs;
    this.#signal = signal;
    this.#ended.promise.catch(() => undefined);
    signal?.addEventListener("abort", this.#onAbort);
    if (signal?.aborted === true) this.#onAbort();
    else this.sign();
  }

  /** The server has shown that it lives. */
  sign(): void {
    const leftMs = Math.min(this.#silenceMs, this.#lastMs - Date.now());
    this.#timer.set(leftMs, () => this.#end(new Fault("timeout", `no answer within ${this.#silenceMs / 1000}s`)));
  }

  /** The outcome of `work`, or the fault that ended it. */
  orEnd<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([work, this.#ended.promise]);
  }

  stop(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#timer.stop();
  }

  #end(fault: Fault): void {
    this.abort();
    this.#ended.reject(fault);
  }
}
