import { expect, test } from "vitest";
import { parseJson } from "./json.ts";

test("a key may be in two objects, and in a string", () => {
  expect(parseJson('[{"a": "{\\"a\\": 1, \\"a\\": 2}"}, {"a": {"a": []}}]')).toEqual([{ a: '{"a": 1, "a": 2}' }, { a: { a: [] } }]);
});

test.each([
  ['{"a": 1,\n "\\u0061": 2}', 'the key "a" is there twice (line 2 column 2)'],
  ['[{"b": {"x": 1}, "b": 1}]', 'the key "b" is there twice (line 1 column 18)'],
])("%s is refused", (text, reason) => {
  expect(() => parseJson(text)).toThrow(new SyntaxError(reason));
});

test.each(["NaN", "[Infinity]", '{"a": 1,}', ""])("%s is no JSON", (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test("500 levels are read, 501 refused", () => {
  expect(() => parseJson("[".repeat(500) + "]".repeat(500))).not.toThrow();
  expect(() => parseJson("[".repeat(501) + "]".repeat(501))).toThrow("nested deeper than 500 levels (line 1 column 501)");
});
