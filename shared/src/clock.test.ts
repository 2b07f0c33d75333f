import { describe, expect, test } from "vitest";
import { type ArmedClock, armedClock, parseInstant, universeNow, writtenInstant, writtenLocal, zoneOffsetMinutes } from "./clock.ts";
import { parseJson } from "./jsonrpc.ts";

/** A clock armed at 0, as it shows its start; or its problem. */
function armed(virtualTime: unknown, rate: unknown = 0): string {
  const clock = armedClock({ virtualTime, rate }, 0);
  return "problem" in clock ? clock.problem : `${writtenInstant(clock.t0)} x ${clock.rate}`;
}

describe("G1 V47 what a clock can be set to", () => {
  test.each([
    ["2026-01-01 00:00:00z", "2026-01-01T00:00:00Z"],
    ["2030-01-02 03:04:05.250+02:00", "2030-01-02T01:04:05.250000Z"],
    ["2030-01-02T03:04:05.1234567Z", "2030-01-02T03:04:05.123456Z"],
    ["2030-01-02T03:04:05-00:00", "2030-01-02T03:04:05Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
  ])("%s is %s", (text, written) => {
    expect(armed(text)).toBe(`${written} x 0`);
  });

  test.each([
    ["2026-01-01T00:00Z", 'invalid RFC 3339 virtual_time "2026-01-01T00:00Z": expected YYYY-MM-DDThh:mm:ss[.fff](Z|+hh:mm)'],
    [" 2026-01-01T00:00:00Z", 'invalid RFC 3339 virtual_time " 2026-01-01T00:00:00Z": expected YYYY-MM-DDThh:mm:ss[.fff](Z|+hh:mm)'],
    ["2026-01-01T00:00:00+0100", 'invalid RFC 3339 virtual_time "2026-01-01T00:00:00+0100": expected YYYY-MM-DDThh:mm:ss[.fff](Z|+hh:mm)'],
    ["2030-02-30T00:00:00Z", 'invalid RFC 3339 virtual_time "2030-02-30T00:00:00Z": day is out of range for month'],
    ["2030-01-02T24:00:00Z", 'invalid RFC 3339 virtual_time "2030-01-02T24:00:00Z": hour must be in 0..23'],
    ["2030-01-02T03:04:60Z", 'invalid RFC 3339 virtual_time "2030-01-02T03:04:60Z": second must be in 0..59'],
    ["0001-01-01T00:00:00+01:00", 'invalid RFC 3339 virtual_time "0001-01-01T00:00:00+01:00": it is outside of the calendar'],
    [5, "virtual_time must be an RFC 3339 string, got a number"],
    [undefined, "virtual_time must be an RFC 3339 string, got nothing"],
  ])("%j is refused", (given, problem) => {
    expect(armed(given)).toBe(problem);
  });

  test.each([
    [true, "rate must be a number, got a boolean"],
    ["2", "rate must be a number, got a string"],
    [-1, "rate must not be negative"],
    [Number.POSITIVE_INFINITY, "rate Infinity is above 86400 (a real second would be more than a virtual day)"],
    [parseJson("0.50000000000000000"), "2026-01-01T00:00:00Z x 0.5"],
    [86_401, "rate 86401 is above 86400 (a real second would be more than a virtual day)"],
    [null, "2026-01-01T00:00:00Z x 1"],
  ])("a rate of %j", (rate, outcome) => {
    expect(armed("2026-01-01T00:00:00Z", rate)).toBe(outcome);
  });

  test("a time that would pass the year 9999 within a real day is refused, at rate 0 it isn't", () => {
    expect(armed("9999-12-31T23:59:59Z", 1)).toBe(
      'virtual_time "9999-12-31T23:59:59Z" at rate 1 would pass the year 9999 within a real day',
    );
    expect(armed("9999-12-31T23:59:59Z", 0)).toBe("9999-12-31T23:59:59Z x 0");
  });
});

test("G1 an armed clock runs at its rate, is frozen at 0, and stops at the calendar's end", () => {
  const clock = (rate: number): ArmedClock => ({ t0: BigInt(Date.UTC(2030, 0, 1)) * 1000n, rate, armedMs: 1_000 });
  const at = (rate: number, nowMs: number) => writtenInstant(universeNow(clock(rate), nowMs));
  expect([at(60, 3_500), at(0, 99_999), at(1, 0)]).toEqual(["2030-01-01T00:02:30Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"]);
  expect(at(86_400, 1_000_000_000_000)).toBe("9999-12-31T23:59:59.999999Z");
});

test("G1 V49 a place's local time knows its daylight saving; other names than IANA's are none", () => {
  const local = (zone: string, text: string) => {
    const instant = parseInstant(text);
    const minutes = typeof instant === "bigint" ? zoneOffsetMinutes(zone, instant) : null;
    return minutes === null || typeof instant !== "bigint" ? null : writtenLocal(instant, minutes);
  };
  expect(local("Asia/Tokyo", "2030-01-02T03:04:05.5Z")).toBe("2030-01-02T12:04:05+09:00");
  expect(local("America/New_York", "2030-01-02T03:04:05Z")).toBe("2030-01-01T22:04:05-05:00");
  expect(local("America/New_York", "2030-07-02T03:04:05Z")).toBe("2030-07-01T23:04:05-04:00");
  expect(local("UTC", "2030-07-02T03:04:05Z")).toBe("2030-07-02T03:04:05+00:00");
  expect([local("Mars/X", "2030-07-02T03:04:05Z"), local("+09:00", "2030-07-02T03:04:05Z")]).toEqual([null, null]);
});
