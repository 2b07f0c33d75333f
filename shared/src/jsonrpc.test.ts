import { describe, expect, test } from "vitest";
import { doubleIn, errorAnswer, isJsonObject, isRequestId, isSameScalar, isTooDeep, parseJson, receivedJson } from "./jsonrpc.ts";

describe("parseJson", () => {
  test.each([
    '{"n":12345678901234567890}',
    '{"n":[1.50,1234567890123456789,0.1]}',
    '{"id":98765432109876543210,"a":1e400,"b":"12345678901234567890"}',
    "9007199254740993",
    '{"c":1e400,"d":-1E+999,"e":1e-400}',
  ])("F29 %s comes back as it was", (text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  test("of doubled keys the last counts", () => {
    expect(JSON.stringify(parseJson('{"a":1,"\\u0061":2,"n":12345678901234567}'))).toBe('{"a":2,"n":12345678901234567}');
  });

  test("__proto__ is a key like any other", () => {
    const text = '{"__proto__":{"a":1},"n":12345678901234567}';
    expect(JSON.stringify({ ...(parseJson(text) as object) })).toBe(text);
  });

  test("what is no JSON throws", () => {
    for (const text of ["{", "", "{}x", '{"n":1234567890123456789,}']) expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

test("an opaque number is no object, and may be an id", () => {
  const { n } = parseJson('{"n":12345678901234567890}') as { n: unknown };
  expect([isJsonObject(n), isRequestId(n), isRequestId(null), isRequestId({}), isJsonObject([]), isJsonObject(null)]).toEqual([
    false,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("depth counts brackets, not those in strings", () => {
  expect(isTooDeep("[".repeat(128) + "]".repeat(128))).toBe(false);
  expect(isTooDeep("[".repeat(129) + "]".repeat(129))).toBe(true);
  expect(isTooDeep(JSON.stringify(`"${"[".repeat(500)}\\`))).toBe(false);
});

test("a text from elsewhere has a value, or a reason why not", () => {
  const deep = `[${'{"a":'.repeat(20_000)}12345678901234567890${"}".repeat(20_000)}]`;
  expect([receivedJson("null"), receivedJson("{"), receivedJson(deep)]).toEqual([
    { value: null },
    { problem: "no JSON" },
    { problem: "JSON that nests deeper than 128" },
  ]);
});

test("an error without data has none", () => {
  expect(errorAnswer(null, -32700, "parse error")).toEqual({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "parse error" } });
});

test("an opaque number is a double where one is wanted, and the same as one that is written alike", () => {
  const [big, far] = [parseJson("12345678901234567890"), parseJson("1e400")];
  expect([doubleIn(2), doubleIn(big), doubleIn(far), doubleIn("2"), doubleIn(null)]).toEqual([
    2,
    Number("12345678901234567890"),
    Number.POSITIVE_INFINITY,
    undefined,
    undefined,
  ]);
  const others = [parseJson("12345678901234567891"), Number("12345678901234567890"), "12345678901234567890", null];
  expect(isSameScalar(big, parseJson("12345678901234567890"))).toBe(true);
  expect(others.map((other) => isSameScalar(big, other))).toEqual([false, false, false, false]);
});
