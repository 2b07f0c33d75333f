import { type ArmedClock, UNIVERSE_HEADER, universeNow, writtenInstant } from "@agent-env/protocol";
import type { Field } from "./seam.ts";

/** In lower case, as fields are compared. */
export const UNIVERSE_FIELD = UNIVERSE_HEADER.toLowerCase();

/** How a server is told the universe's time: not at all while the clock is unarmed. */
export function timeFields(time: string | null): Field[] {
  return time === null ? [] : [[UNIVERSE_FIELD, time]];
}

/** What a clock says now; null for one that isn't armed. */
export function writtenTime(clock: ArmedClock | null): string | null {
  return clock === null ? null : writtenInstant(universeNow(clock, Date.now()));
}
