import { type Instant, zoneOffsetMinutes } from "@agent-env/protocol";
import { z } from "zod";

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const Time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be HH:MM");

/** When an executor works: by the clock of a place, whose daylight saving keeps the hours local. */
export const Hours = z
  .looseObject({
    start: Time,
    end: Time,
    utc_offset: z
      .string()
      .regex(/^[+-]([01]\d|2[0-3]):[0-5]\d$/, "must be +HH:MM or -HH:MM")
      .optional(),
    time_zone: z
      .string()
      .refine((zone) => zoneOffsetMinutes(zone, 0n) !== null, "is no IANA time zone")
      .optional(),
    days: z.array(z.enum(DAYS)).min(1).optional(),
  })
  .refine(({ start, end }) => start !== end, "start and end are the same")
  .refine(({ utc_offset, time_zone }) => utc_offset === undefined || time_zone === undefined, "has both utc_offset and time_zone");
export type Hours = z.infer<typeof Hours>;

const DAY_MINUTES = 1_440n;

/** Whether somebody with these hours works then. A shift that ends before it starts runs past midnight, and is its first day's. */
export function isAtWork(hours: Hours, instant: Instant): boolean {
  const local = instant / 60_000_000n + BigInt(offsetOf(hours, instant));
  const minute = Number(((local % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES);
  const day = Number(((((local - BigInt(minute)) / DAY_MINUTES + 4n) % 7n) + 7n) % 7n);
  const start = minutesOf(hours.start);
  const end = minutesOf(hours.end);
  const works = (which: number) => hours.days === undefined || hours.days.includes(DAYS[which] ?? "sun");
  if (start < end) return works(day) && minute >= start && minute < end;
  return (works(day) && minute >= start) || (works((day + 6) % 7) && minute < end);
}

function offsetOf({ time_zone, utc_offset = "+00:00" }: Hours, instant: Instant): number {
  if (time_zone !== undefined) return zoneOffsetMinutes(time_zone, instant) ?? 0;
  return minutesOf(utc_offset.slice(1)) * (utc_offset.startsWith("-") ? -1 : 1);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
