import { describe, expect, test } from "vitest";
import { instructionsOf } from "./ignore-expression.ts";
import { ignorePattern } from "./ignore-pattern.ts";

describe("a pattern is read as Docker reads it", () => {
  test.each([
    ["*", ["a", "a.b"], ["a/b"]],
    ["a**b", ["ab", "ax/b"], ["axb"]],
    ["a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]],
    ["**/*.txt", ["a.txt", "b/c/a.txt"], ["a.txt/b"]],
    ["**x", ["x", "b/ax"], ["x/a"]],
    ["[a-c]?", ["ax", "cé"], ["dx", "a", "a/"]],
    ["[^a]", ["b", "/"], ["a"]],
    ["\\*\\_", ["*_"], ["a_"]],
    ["\\d\\w\\S", ["1_é", "9a."], ["a__", "1. "]],
    ["*\\bb", ["a.b", "b"], ["ab"]],
    ["\\t", ["\t"], ["t"]],
    ["a^b", ["a^b"], []],
    ["a^b*", [], ["a^b", "ab"]],
    ["[*]", ["[/]", "]"], ["*", "a]"]],
  ])("%s", (text, matching, others) => {
    const { matches } = ignorePattern(text, false);
    expect([...matching, ...others].filter(matches)).toEqual(matching);
  });
});

test.each([
  ["a[", '"a[" is no pattern: a [ or a \\ in it isn\'t ended'],
  ["a\\", '"a\\\\" is no pattern: a [ or a \\ in it isn\'t ended'],
  ["[c-a]", '"[c-a]" is no pattern: the range c-a in it ends before it begins'],
  ["[a-*]", '"[a-*]" is no pattern: the range a-[ in it ends before it begins'],
  ["\\x41", '"\\\\x41" is no pattern: \\x in it is no character'],
  ["\\é*", '"\\\\é*" is no pattern: \\é in it is no character'],
  ["[[:alpha:]]", '"[[:alpha:]]" is no pattern: a [: :] in it isn\'t read'],
])("%s is refused", (text, message) => {
  expect(() => ignorePattern(text, false)).toThrow(new SyntaxError(message));
});

test("an expression that ends in a class is refused too", () => {
  expect(() => instructionsOf("[a", "[a")).toThrow(new SyntaxError('"[a" is no pattern: a [ in it isn\'t ended'));
});
