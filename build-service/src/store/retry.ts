import { setTimeout as delay } from "node:timers/promises";

const LONGEST_PAUSE_MS = 400;

export type RetryOptions = { readonly tries: number; readonly isRetryable: (error: unknown) => boolean };

/**
 * Calls `attempt` until it succeeds, fails for good, or has failed `tries` times, with a random pause that doubles in
 * between. Only for calls that may be repeated: `attempt` is told how often it has been tried before (0, 1, …).
 */
export async function withRetry<T>(options: RetryOptions, attempt: (earlierTries: number) => Promise<T>): Promise<T> {
  for (let earlierTries = 0; ; earlierTries++) {
    try {
      return await attempt(earlierTries);
    } catch (error) {
      if (earlierTries + 1 >= options.tries || !options.isRetryable(error)) throw error;
      await delay(Math.random() * Math.min(LONGEST_PAUSE_MS, 5 * 2 ** earlierTries));
    }
  }
}
