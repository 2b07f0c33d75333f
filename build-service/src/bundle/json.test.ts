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

test.each([
  ["NaN", "expected a value (line 1 column 1)"],
  ["[Infinity]", 'expected a value or "]" (line 1 column 2)'],
  ['{"a": 1,}', "expected a key (line 1 column 9)"],
  ['{\n  "a" 1}', 'expected ":" (line 2 column 7)'],
  ["[1 2]", 'expected "," or "]" (line 1 column 4)'],
  ["[1}", 'expected "," or "]" (line 1 column 3)'],
  ["[1", 'expected "," or "]" (line 1 column 3)'],
  ["[] x", "expected nothing more (line 1 column 4)"],
  ["", "expected a value (line 1 column 1)"],
  ['["\t"]', 'expected a value or "]" (line 1 column 2)'],
  ['["\\x"]', 'expected a value or "]" (line 1 column 2)'],
  ["[01]", 'expected "," or "]" (line 1 column 3)'],
])("%j is no JSON, and where is said", (text, reason) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(() => parseJson(text)).toThrow(new SyntaxError(reason));
});

test("what JSON takes is taken", () => {
  const text = ' {"a": [-0.5e+3, true, null, "\\u00e9\\n"], "b": {}, "": []} ';
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test("a string of megabytes is read", () => {
  expect(parseJson(JSON.stringify(["x".repeat(8_000_000), "\n".repeat(1_000_000)]))).toHaveLength(2);
});

test("500 levels are read, 501 refused", () => {
  expect(() => parseJson("[".repeat(500) + "]".repeat(500))).not.toThrow();
  expect(() => parseJson("[".repeat(501) + "]".repeat(501))).toThrow("nested deeper than 500 levels (line 1 column 501)");
});
