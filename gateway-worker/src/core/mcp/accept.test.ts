import { expect, test } from "vitest";
import { acceptedForms, isJsonType } from "./accept.ts";

test.each([
  [undefined, true, true],
  ["", true, true],
  ["*/*", true, true],
  ["application/json", true, false],
  ["text/event-stream", false, true],
  ["application/json;q=0, text/event-stream", false, true],
  ["APPLICATION/JSON ; charset=utf-8, text/*", true, true],
  ["text/html", false, false],
])("Accept %s", (accept, json, sse) => {
  expect(acceptedForms(accept)).toEqual({ json, sse });
});

test.each([
  ["application/json", true],
  ["Application/JSON; charset=utf-8", true],
  ["application/jsonx", false],
  ["text/json", false],
  [undefined, false],
])("Content-Type %s", (type, isJson) => {
  expect(isJsonType(type)).toBe(isJson);
});
