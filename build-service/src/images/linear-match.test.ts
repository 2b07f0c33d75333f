import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holds, PROPERTY } from "../../../test/fixtures/property.ts";
import { instructionsOf } from "./ignore-expression.ts";
import { type Instruction, linearMatcher } from "./linear-match.ts";

const PARTS = ["[^/]*", "[^/]", "(.*/)?", ".*", "a", "b", "/", "é", "\\.", "[a-b]", "[^a]", "[]a]", "[b-]", "\\w", "\\b", "^", "\\n"];
const source = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(""));
const text = fc
  .array(fc.constantFrom("a", "a", "b", "/", "é", ".", "\n", "-", "]", "\u{1f600}"), { maxLength: 30 })
  .map((parts) => parts.join(""));

/** The instructions, and how often one of them was asked about a character or a place. */
function counted(instructions: readonly Instruction[]) {
  const count = { asked: 0 };
  const asked = <Given extends number[]>(ask: (...given: Given) => boolean) => {
    return (...given: Given): boolean => {
      count.asked++;
      return ask(...given);
    };
  };
  const counting = instructions.map((instruction): Instruction => {
    if (instruction.does === "take") return { ...instruction, accepts: asked(instruction.accepts) };
    return instruction.does === "assert" ? { ...instruction, holds: asked(instruction.holds) } : instruction;
  });
  return { count, counting };
}

test("what matches is what a regular expression matches", PROPERTY, async () => {
  await holds(
    fc.property(source, text, (written, given) => {
      const expected = new RegExp(`^(?:${written.replaceAll("[]a]", "[\\]a]")})$`, "u").test(given);
      expect(linearMatcher(instructionsOf(written, written))(given)).toBe(expected);
    }),
    5_000,
  );
});

test("a text costs at most its length times the pattern's, whatever both are", PROPERTY, async () => {
  await holds(
    fc.property(source, text, fc.integer({ min: 1, max: 8 }), (written, given, times) => {
      const { count, counting } = counted(instructionsOf(written.repeat(times), written));
      linearMatcher(counting)(given.repeat(times));
      expect(count.asked).toBeLessThanOrEqual(([...given].length * times + 1) * counting.length);
    }),
    2_000,
  );
});

describe("a pattern that a backtracking matcher never ends on", () => {
  test.each([
    ["[^/]*a".repeat(12).concat("[^/]*b"), "a".repeat(200)],
    ["(.*/)?a/".repeat(6).concat("(.*/)?b"), "a/".repeat(60)],
    ["[^/]*[a-z]".repeat(8).concat("[0-9]"), "z".repeat(200)],
  ])("%s takes no more steps than its places times the text's characters", (written, given) => {
    const { count, counting } = counted(instructionsOf(written, written));
    expect(linearMatcher(counting)(given)).toBe(false);
    expect(count.asked).toBeLessThanOrEqual(given.length * counting.length);
  });
});
