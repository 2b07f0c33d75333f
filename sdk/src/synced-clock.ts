import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { AgentEnvError } from "./agent-env-error.ts";
import { parseUniverseTime } from "./universe-time.ts";

const ReadTime = z.object({ virtual_time: z.string() });
/** A reading that is older is replaced when the time is asked for. */
const FRESH_MS = 1_000;
/** Between the first two readings, which tell how fast the clock goes. */
const FIRST_MS = 100;
const READ_BUDGET_MS = 5_000;

/** What the clock said, in ms, and when it said so by this process's own. */
type Reading = { readonly universeMs: number; readonly at: number };

/**
 * The universe's clock, read at an address. The address tells the time only: between two readings the clock goes on as fast
 * as it went so far.
 */
export class SyncedClock {
  readonly #url: string;
  readonly #freshMs: number;
  readonly #first: Reading;
  #last: Reading;
  #reading: Promise<void> | null = null;
  #isArmed = true;

  private constructor(url: string, [first, last]: readonly [Reading, Reading], freshMs: number) {
    this.#url = url;
    this.#freshMs = freshMs;
    this.#first = first;
    this.#last = last;
  }

  /** Null where the clock isn't armed. Throws an `AgentEnvError` if the address can't be read. */
  static async at(url: string, freshMs = FRESH_MS): Promise<SyncedClock | null> {
    const first = await readingAt(url);
    if (first === null) return null;
    await pause(FIRST_MS);
    const last = await readingAt(url);
    return last === null ? null : new SyncedClock(url, [first, last], freshMs);
  }

  /** Undefined once the clock was found to be armed no more. Reads again in the background when it last did a while ago. */
  now(): Date | undefined {
    if (!this.#isArmed) return undefined;
    if (performance.now() - this.#last.at > this.#freshMs) this.#reading ??= this.#read();
    return new Date(this.#last.universeMs + this.#rate() * (performance.now() - this.#last.at));
  }

  #rate(): number {
    return (this.#last.universeMs - this.#first.universeMs) / (this.#last.at - this.#first.at);
  }

  async #read(): Promise<void> {
    try {
      const reading = await readingAt(this.#url);
      if (reading === null) this.#isArmed = false;
      else this.#last = reading;
    } catch (error) {
      console.error("the clock that this environment follows can't be read, and goes on as before:", error);
    }
    this.#reading = null;
  }
}

async function readingAt(url: string): Promise<Reading | null> {
  const asked = performance.now();
  const answer = await fetch(url, { signal: AbortSignal.timeout(READ_BUDGET_MS) }).catch((cause: unknown) => {
    throw unreadable(cause instanceof Error ? cause.message : String(cause));
  });
  const answered = performance.now();
  if (answer.status === 404) return null;
  const read = ReadTime.safeParse(await answer.json().catch(() => undefined));
  const time = read.success ? parseUniverseTime(read.data.virtual_time) : undefined;
  if (!answer.ok || time === undefined) throw unreadable(`it answered ${answer.status} without a virtual_time`);
  return { universeMs: time.getTime(), at: (asked + answered) / 2 };
}

const unreadable = (why: string): AgentEnvError =>
  new AgentEnvError("clock_unreadable", `the clock's address can't be read: ${why}`, { status: 502, retryable: true });
