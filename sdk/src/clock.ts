import { UNIVERSE_HEADER } from "@agent-env/protocol";
import { currentHeaders } from "./context.ts";
import { SyncedClock } from "./synced-clock.ts";
import { parseUniverseTime } from "./universe-time.ts";

/** A process is one environment: work that runs for no request follows the clock that it was synced to last. */
let synced: SyncedClock | null = null;

/** The time in the environment's universe: that of the request being answered, that of the clock synced to, or this machine's. */
export function now(): Date {
  const given = currentHeaders().get(UNIVERSE_HEADER);
  return (given === null ? undefined : parseUniverseTime(given)) ?? synced?.now() ?? new Date();
}

/** Follows the clock that is read at an address, until told to follow another; none, where that one isn't armed. */
export async function followClock(url: string): Promise<void> {
  synced = await SyncedClock.at(url);
}
