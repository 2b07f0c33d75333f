/** How long the remote store waits for what. All times are in milliseconds. */
export type RemoteTiming = {
  /** For an answer to begin, and between two pieces of one. */
  readonly silenceMs: number;
  /** What an upload gets beside that. */
  readonly uploadBytesPerMs: number;
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A `Retry-After` that asks for more is not waited for. */
  readonly longestRetryAfterMs: number;
  readonly lease: LeaseTiming;
};

export type LeaseTiming = {
  readonly renewEveryMs: number;
  /** A lease that was last renewed so long ago may be taken by another. */
  readonly voidAfterMs: number;
  /** So long before that its holder stops writing. */
  readonly marginMs: number;
  readonly lookEveryMs: number;
  /** For an answer to a renewal: no longer, so that there is time for another. */
  readonly silenceMs: number;
};

/** R2 and KV take one write a second to a key, so the pauses soon go beyond one. */
export const REMOTE_TIMING: RemoteTiming = {
  silenceMs: 30_000,
  uploadBytesPerMs: 100,
  tries: 7,
  firstPauseMs: 300,
  longestPauseMs: 10_000,
  longestRetryAfterMs: 60_000,
  lease: { renewEveryMs: 10_000, voidAfterMs: 30_000, marginMs: 5_000, lookEveryMs: 1_000, silenceMs: 5_000 },
};
