import { parseInstant } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { Hours, isAtWork } from "./hours.ts";

function works(hours: object, time: string): boolean {
  const instant = parseInstant(time);
  if (typeof instant !== "bigint") throw new Error(instant.problem);
  return isAtWork(Hours.parse(hours), instant);
}

describe("G1 V55 the hours of an executor", () => {
  const night = { start: "22:00", end: "06:00", days: ["mon"] };

  // 2030-01-07 is a Monday
  test.each([
    ["2030-01-08T05:00:00Z", true],
    ["2030-01-08T07:00:00Z", false],
    ["2030-01-08T22:30:00Z", false],
    ["2030-01-14T21:59:59Z", false],
    ["2030-01-14T22:00:00Z", true],
    ["2030-01-07T05:00:00Z", false],
  ])("Monday's night shift at %s: %s", (time, expected) => {
    expect(works(night, time)).toBe(expected);
  });

  test("are of a place, whose daylight saving keeps them local", () => {
    const office = { start: "09:00", end: "17:00", time_zone: "America/New_York" };
    expect([works(office, "2030-01-08T14:00:00Z"), works(office, "2030-01-08T13:30:00Z")]).toEqual([true, false]);
    expect([works(office, "2030-07-09T13:30:00Z"), works(office, "2030-07-09T21:00:00Z")]).toEqual([true, false]);
    const offset = { start: "09:00", end: "17:00", utc_offset: "-05:30" };
    expect([works(offset, "2030-01-08T14:30:00Z"), works(offset, "2030-01-08T14:29:59Z")]).toEqual([true, false]);
  });

  test("that are none are refused", () => {
    const wrong = [
      { start: "09:00", end: "09:00" },
      { start: "9:00", end: "10:00" },
      { start: "09:00", end: "24:00" },
      { start: "09:00", end: "10:00", time_zone: "Mars/X" },
      { start: "09:00", end: "10:00", days: ["monday"] },
      { start: "09:00", end: "10:00", time_zone: "UTC", utc_offset: "+00:00" },
    ];
    expect(wrong.map((hours) => Hours.safeParse(hours).success)).toEqual(wrong.map(() => false));
  });
});
