import { setTimeout as delay } from "node:timers/promises";

export type RetryOptions = {
  readonly tries: number;
  readonly isRetryable: (error: unknown) => boolean;
  /** The longest pause after the first try; it doubles with each further one. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** What the other side asked for: no pause is shorter. */
  readonly leastPauseMs?: (error: unknown) => number;
};

/**
 * Calls `attempt` until it succeeds, fails for good, or has failed `tries` times, with a random pause that doubles in
 * between. Only for calls that may be repeated: `attempt` is told how often it has been tried before (0, 1, …).
 */
export async function withRetry<T>(options: RetryOptions, attempt: (earlierTries: number) => Promise<T>): Promise<T> {
  const { tries, isRetryable, firstPauseMs, longestPauseMs, leastPauseMs = () => 0 } = options;
  for (let earlierTries = 0; ; earlierTries++) {
    try {
      return await attempt(earlierTries);
    } catch (error) {
      if (earlierTries + 1 >= tries || !isRetryable(error)) throw error;
      const pauseMs = Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** earlierTries);
      await delay(Math.max(pauseMs, leastPauseMs(error)));
    }
  }
}
