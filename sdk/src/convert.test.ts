import { describe, expect, test } from "vitest";
import { z } from "zod";
import { convertParams } from "./convert.ts";

const enumOfNumbers = z.enum({ one: 1, two: 2 });

describe("strings become what is declared", () => {
  test.each([
    [z.boolean(), " True ", true],
    [z.boolean(), "off", false],
    [z.boolean(), "maybe", "maybe"],
    [z.int(), " +7 ", 7],
    [z.number(), "1e3", 1000],
    [z.number(), "0x10", "0x10"],
    [z.number(), "Infinity", "Infinity"],
    [z.number(), "", ""],
    [z.bigint(), "12345678901234567890", 12345678901234567890n],
    [z.date(), "2026-03-01T09:00:00Z", new Date("2026-03-01T09:00:00Z")],
    [z.date(), "yesterday", "yesterday"],
    [z.iso.date(), "2026-03-01", "2026-03-01"],
    [enumOfNumbers, "2", 2],
    [z.literal([1, 2]), "2", 2],
    [z.literal([1, "2"]), "2", "2"],
    [z.literal(true), "1", true],
    [z.number().optional(), "1", 1],
    [z.number().nullable().default(null), "1", 1],
    [z.string(), "1", "1"],
  ])("%#", (schema, text, value) => {
    expect(convertParams({ x: schema }, { x: text })).toEqual({ x: value });
  });

  test("other values and undeclared params pass", () => {
    expect(convertParams({ n: z.number() }, { n: [1], more: "1" })).toEqual({ n: [1], more: "1" });
  });

  test("a boolean is no number of a set", () => {
    expect(z.strictObject({ n: z.literal([0, 1]) }).safeParse(convertParams({ n: z.literal([0, 1]) }, { n: true })).success).toBe(false);
  });
});
