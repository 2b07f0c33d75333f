import { expect, test } from "vitest";
import { decodedHeader, encodedHeader } from "./header-value.ts";

test.each([
  ["plain", "plain"],
  ["", ""],
  ["a b", "a b"],
  [" outer", "=?base64?IG91dGVy?="],
  ["süß", "=?base64?c8O8w58=?="],
  ["line\nbreak", "=?base64?bGluZQpicmVhaw==?="],
  ["=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="],
])("%j goes out as %j and comes back", (text, header) => {
  expect([encodedHeader(text), decodedHeader(header)]).toEqual([header, text]);
});

test.each(["=?base64?c8O8w58?=", "=?base64?*?=", "=?base64?/w==?="])("%j says nothing", (value) => {
  expect(decodedHeader(value)).toBeNull();
});

test.each(["=?BASE64?eA==?=", "eA==", "=?base64?eA=="])("%j is no marker, and stands for itself", (value) => {
  expect(decodedHeader(value)).toBe(value);
});
