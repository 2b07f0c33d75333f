import { type ArmedClock, armedClock, isJsonObject, type JsonObject, jsonOf, universeNow, writtenInstant } from "@agent-env/protocol";
import type { Sql } from "../seam.ts";

/** The universe's clock of one deployment. It goes on over a restart as if there had been none (3-wire §clock). */
export class Clock {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #changed: () => void;
  #armed: ArmedClock | null;

  constructor(options: { sql: Sql; now: () => number; changed: () => void }) {
    this.#sql = options.sql;
    this.#now = options.now;
    this.#changed = options.changed;
    this.#armed = storedClock(options.sql);
  }

  /** What it was set to; null while nobody has armed it. */
  get armed(): ArmedClock | null {
    return this.#armed;
  }

  /** The universe's time as it is written; null while unarmed. */
  written(): string | null {
    return this.#armed === null ? null : writtenInstant(universeNow(this.#armed, this.#now()));
  }

  /** Arms the clock, anew too. What is wrong with the request changes nothing. */
  arm(asked: { virtualTime: unknown; rate: unknown }): { readonly problem: string } | null {
    const clock = armedClock(asked, this.#now());
    if ("problem" in clock) return clock;
    const stored = JSON.stringify({ ...clock, t0: String(clock.t0) });
    this.#sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES ('clock', ?)", stored);
    this.#armed = clock;
    this.#changed();
    return null;
  }

  /** Disarms it. */
  clear(): void {
    this.#sql.exec("DELETE FROM facts WHERE name = 'clock'");
    this.#armed = null;
    this.#changed();
  }

  /** As arming and `/clock/state` show it. */
  shown(): JsonObject {
    if (this.#armed === null) return { armed: false };
    const { t0, rate } = this.#armed;
    return { armed: true, t0: writtenInstant(t0), virtual_seconds_per_real_second: rate, virtual_time: this.written() };
  }
}

function storedClock(sql: Sql): ArmedClock | null {
  const stored = sql.exec("SELECT value FROM facts WHERE name = 'clock'")[0]?.["value"];
  const clock = typeof stored === "string" ? jsonOf(stored) : null;
  if (!isJsonObject(clock)) return null;
  return { t0: BigInt(String(clock["t0"])), rate: Number(clock["rate"]), armedMs: Number(clock["armedMs"]) };
}
