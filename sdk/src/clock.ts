import { currentHeaders } from "./context.ts";

/** Set by the gateway on every request while the universe's clock is armed; it drops clients' copies. */
const UNIVERSE_NOW = "x-universe-now";

/** `YYYY-MM-DD`, `T`, `t` or a space, `hh:mm:ss` with an optional fraction, `Z`, `z` or `±hh:mm`; nothing around it. */
const TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?(?:([Zz])|([+-]\d\d:\d\d))$/;

/** The time in the environment's universe: that of the request being answered, else this machine's. */
export function now(): Date {
  const given = currentHeaders().get(UNIVERSE_NOW);
  return (given === null ? undefined : parseUniverseTime(given)) ?? new Date();
}

/** The moment that a universe time names, to the millisecond; undefined if it isn't one (3-wire §clock). */
export function parseUniverseTime(text: string): Date | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, date, time, fraction = "", , offset = "Z"] = match;
  const moment = new Date(`${date}T${time}${fraction.slice(0, 4)}${offset}`);
  // `Date` takes 31 February as 3 March: a time is one only if its calendar day is.
  const day = new Date(`${date}T00:00:00Z`);
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date ?? "");
  return exists && !Number.isNaN(moment.getTime()) ? moment : undefined;
}
