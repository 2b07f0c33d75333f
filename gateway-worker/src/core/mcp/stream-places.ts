import type { Limits } from "../limits.ts";

/** A stream's place among the open ones; called when it is closed. */
export type StreamPlace = () => void;

/** How many streams are open, of each session and in all (6-mcp §13). */
export class StreamPlaces {
  readonly #ofSession = new Map<string, number>();
  readonly #limits: Pick<Limits, "maxSessionStreams" | "maxStreams">;
  #all = 0;

  constructor(limits: Pick<Limits, "maxSessionStreams" | "maxStreams">) {
    this.#limits = limits;
  }

  /** Whether no more streams may be opened. A caller without a session counts for the deployment alone. */
  isFull(session: string | undefined): boolean {
    const own = session === undefined ? 0 : (this.#ofSession.get(session) ?? 0);
    return own >= this.#limits.maxSessionStreams || this.#all >= this.#limits.maxStreams;
  }

  /** A place for one more stream; null where there is none. */
  take(session: string | undefined): StreamPlace | null {
    if (this.isFull(session)) return null;
    this.#count(session, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#count(session, -1);
      isTaken = false;
    };
  }

  #count(session: string | undefined, change: 1 | -1): void {
    this.#all += change;
    if (session === undefined) return;
    const count = (this.#ofSession.get(session) ?? 0) + change;
    if (count === 0) this.#ofSession.delete(session);
    else this.#ofSession.set(session, count);
  }
}
