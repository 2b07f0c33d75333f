import { expect, test } from "vitest";
import { parseToml } from "./toml.ts";

test("integers and floats are kept apart", () => {
  expect(parseToml("a = 1\nb = 1.0\nc = true")).toEqual({ a: 1n, b: 1, c: true });
});

test.each([
  ["a = 1\na = 2", /line 2 column/],
  ["a = ", /line 1 column/],
  ['"__proto__" = 1', /line 1 column/],
])("%j is refused with its place", (text, reason) => {
  expect(() => parseToml(text)).toThrow(reason);
  expect(() => parseToml(text)).toThrow(SyntaxError);
});

test("nesting deeper than 500 is refused, in brackets, dots and headers", () => {
  const dotted = (levels: number): string => Array.from({ length: levels }, () => "a").join(".");
  expect(() => parseToml(`${dotted(500)} = 1`)).not.toThrow();
  expect(() => parseToml(`${dotted(502)} = 1`)).toThrow(SyntaxError);
  expect(() => parseToml(`[${dotted(502)}]`)).toThrow(SyntaxError);
  expect(() => parseToml(`x = ${"[".repeat(502)}${"]".repeat(502)}`)).toThrow(SyntaxError);
});
