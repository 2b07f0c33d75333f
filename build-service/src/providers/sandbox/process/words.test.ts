// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are words of a Dockerfile
import { describe, expect, test } from "vitest";
import { expand, UnreadableWord, words } from "./words.ts";

const scope = new Map([
  ["A", "one"],
  ["EMPTY", ""],
  ["AB", "two words"],
]);

describe("a word of a Dockerfile is read as Docker's builder reads it", () => {
  const cases: [word: string, value: string][] = [
    ["plain", "plain"],
    ["$A", "one"],
    ["$AB$A", "two wordsone"],
    ["${A}B", "oneB"],
    ["$MISSING.", "."],
    ["${MISSING:-x$A}", "xone"],
    ["${EMPTY:-x}", "x"],
    ["${EMPTY-x}", ""],
    ["${A:+y}", "y"],
    ["${EMPTY:+y}", ""],
    ["${EMPTY+y}", "y"],
    ["${MISSING:-${A}}", "one"],
    ["\\$A", "$A"],
    ["'$A'", "$A"],
    ['"$A \\"q\\" \\n"', 'one "q" \\n'],
    ["a\\ b", "a b"],
    ["'it'\\''s'", "it's"],
    ["$", "$"],
    ["$$A", "$one"],
    ["$1", "$1"],
  ];
  test.each(cases)("%j is %j", (word, value) => {
    expect(expand(word, scope)).toBe(value);
  });

  test.each(["'open", '"open', "${A", "${A%x}", "${}"])("%j can't be read", (word) => {
    expect(() => expand(word, scope)).toThrow(UnreadableWord);
  });

  test("words end at white space outside quotes, and one with nothing in it stays", () => {
    expect(words(`a "b c" 'd e'\tf\\ g  "" $AB`, scope)).toEqual(["a", "b c", "d e", "f g", "", "two words"]);
  });
});
