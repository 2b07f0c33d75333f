/** A client that never comes back holds a place until so many others have come. */
const MOST_OPEN = 10_000;

/** Calls that wait for their callers' answers, by the state under which these come back. */
export class OpenCalls<Call> {
  readonly #calls = new Map<string, Call>();

  /** Keeps a call that will be gone on with. Without a state it can't be told from a new one. */
  keep(state: string, call: Call): void {
    if (state === "") return;
    this.#calls.set(state, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_OPEN && oldest !== undefined) this.#calls.delete(oldest);
  }

  /** The call that goes on under a state, if it is one of these. */
  take(state: unknown): Call | undefined {
    if (typeof state !== "string") return undefined;
    const call = this.#calls.get(state);
    this.#calls.delete(state);
    return call;
  }
}
