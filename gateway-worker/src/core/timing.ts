/** One timer at a time. */
export class Timer {
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** Runs `then` after `ms`, in place of what was set before. */
  set(ms: number, then: () => void): void {
    this.stop();
    this.#timer = setTimeout(then, Math.max(0, ms));
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** The outcome of `work`, or undefined when it takes longer than `ms`. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), Math.max(0, ms));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Lets so much time go by between two tries of a probe. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
