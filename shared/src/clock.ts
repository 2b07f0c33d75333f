import { doubleIn } from "./jsonrpc.ts";

/** Header in which a gateway tells its servers the universe's time. */
export const UNIVERSE_HEADER = "X-Universe-Now";

/** Microseconds since 1970 in UTC: what a virtual time is counted in. A double would lose them from the year 2255 on. */
export type Instant = bigint;

/** A clock that was armed: `t0` at `armedMs` of the machine's clock, and from there on `rate` virtual seconds a real one. */
export type ArmedClock = { readonly t0: Instant; readonly rate: number; readonly armedMs: number };

const MAX_RATE = 86_400;
const DAY_MS = 86_400_000;
const FIRST = instantOf(1, 1, 1);
/** The calendar's end: 9999-12-31T23:59:59.999999Z. */
const LAST = instantOf(10_000, 1, 1) - 1n;
const EXPECTED = "expected YYYY-MM-DDThh:mm:ss[.fff](Z|+hh:mm)";
const SHAPE = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The instant of an RFC 3339 time, or what is wrong with it. Nothing may stand around it; digits past microseconds are dropped. */
export function parseInstant(text: string): Instant | { readonly problem: string } {
  const match = SHAPE.exec(text);
  if (match === null) return { problem: EXPECTED };
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  const problem =
    outside("month", month, 1, 12) ??
    (day < 1 || day > daysIn(year, month) ? "day is out of range for month" : null) ??
    outside("hour", hour, 0, 23) ??
    outside("minute", minute, 0, 59) ??
    outside("second", second, 0, 59) ??
    outside("offset hour", offsetHours, 0, 23) ??
    outside("offset minute", offsetMinutes, 0, 59);
  if (problem !== null) return { problem };
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (match[8] === "-" ? -1 : 1);
  const micros = BigInt((match[7] ?? "").slice(0, 6).padEnd(6, "0"));
  const seconds = ((hour * 60 + minute) * 60 + second) * 1000;
  const instant = instantOf(year, month, day) + BigInt(seconds - offsetMs) * 1000n + micros;
  return year < 1 || instant < FIRST || instant > LAST ? { problem: "it is outside of the calendar" } : instant;
}

/** A time as it is written everywhere: UTC, `Z`, six fraction digits only where they aren't all zero. */
export function writtenInstant(instant: Instant): string {
  const micros = ((instant % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const whole = new Date(Number((instant - micros) / 1000n)).toISOString().slice(0, 19);
  return micros === 0n ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0")}Z`;
}

/** What an armed clock says at `nowMs`. It stops at the calendar's ends. */
export function universeNow({ t0, rate, armedMs }: ArmedClock, nowMs: number): Instant {
  return withinCalendar(t0 + BigInt(Math.floor(Math.max(0, nowMs - armedMs) * 1000 * rate)));
}

/** An instant, or the nearest that the calendar has. */
export function withinCalendar(instant: Instant): Instant {
  return instant > LAST ? LAST : instant < FIRST ? FIRST : instant;
}

/** The clock that `PUT /clock/set-time` asks for, armed at `nowMs`, or why there is none. */
export function armedClock(asked: { virtualTime: unknown; rate: unknown }, nowMs: number): ArmedClock | { readonly problem: string } {
  const { virtualTime } = asked;
  if (typeof virtualTime !== "string") return { problem: `virtual_time must be an RFC 3339 string, got ${kindOf(virtualTime)}` };
  const t0 = parseInstant(virtualTime);
  const quoted = JSON.stringify(virtualTime);
  if (typeof t0 !== "bigint") return { problem: `invalid RFC 3339 virtual_time ${quoted}: ${t0.problem}` };
  const rate = doubleIn(asked.rate ?? 1);
  if (rate === undefined) return { problem: `rate must be a number, got ${kindOf(asked.rate)}` };
  if (rate < 0) return { problem: "rate must not be negative" };
  if (rate > MAX_RATE) return { problem: `rate ${rate} is above ${MAX_RATE} (a real second would be more than a virtual day)` };
  const afterADay = t0 + BigInt(Math.floor(DAY_MS * 1000 * rate));
  if (afterADay > LAST) return { problem: `virtual_time ${quoted} at rate ${rate} would pass the year 9999 within a real day` };
  return { t0, rate, armedMs: nowMs };
}

/** How far a place's local time is ahead of UTC then, in minutes; null for what is no IANA time zone. */
export function zoneOffsetMinutes(zone: string, instant: Instant): number | null {
  // Intl takes bare offsets too, which are no names
  if (!/^[A-Za-z]/.test(zone)) return null;
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const name = format.formatToParts(new Date(Number(instant / 1000n))).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const match = /([+-])(\d\d):(\d\d)/.exec(name);
    return match === null ? 0 : (Number(match[2]) * 60 + Number(match[3])) * (match[1] === "-" ? -1 : 1);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** An instant as the local time of a place that is so far ahead of UTC, to the second. */
export function writtenLocal(instant: Instant, offsetMinutes: number): string {
  const shifted = writtenInstant(withinCalendar(instant + BigInt(offsetMinutes) * 60_000_000n)).slice(0, 19);
  const minutes = Math.abs(offsetMinutes);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${shifted}${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function instantOf(year: number, month: number, day: number): Instant {
  // Date.UTC reads years below 100 as of the last century
  return BigInt(new Date(0).setUTCFullYear(year, month - 1, day)) * 1000n;
}

function daysIn(year: number, month: number): number {
  return new Date(new Date(0).setUTCFullYear(year, month, 0)).getUTCDate();
}

function outside(what: string, value: number, least: number, most: number): string | null {
  return value < least || value > most ? `${what} must be in ${least}..${most}` : null;
}

function kindOf(value: unknown): string {
  return value === null || value === undefined ? "nothing" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
