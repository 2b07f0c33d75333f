import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObjectPath, ReadObject, readDataRequest, WriteObject } from "./data-plane.ts";

describe("objects", () => {
  const read = { kind: "http-get", url: "https://store.example/a", expires_at: "2026-03-01T09:00:00Z" };
  const write = { ...read, kind: "http-put" };

  test("are read and written as they are described", () => {
    const object = { media_type: "text/plain", max_bytes: 5 };
    expect(ReadObject.safeParse({ ...object, size_bytes: 0, sha256: "0".repeat(64), read }).success).toBe(true);
    expect(WriteObject.safeParse({ ...object, write: { ...write, headers: { A: "b" } } }).success).toBe(true);
  });

  test.each([
    ["larger than allowed", { size_bytes: 6 }],
    ["of no size", { max_bytes: 0 }],
    ["with upper-case digits", { sha256: "A".repeat(64) }],
    ["with a key that the shape hasn't", { colour: "red" }],
    ["at a plain address", { read: { ...read, url: "http://store.example/a" } }],
    ["until another zone's time", { read: { ...read, expires_at: "2026-03-01T09:00:00+01:00" } }],
  ])("%s are refused", (_name, change) => {
    expect(ReadObject.safeParse({ media_type: "text/plain", max_bytes: 5, read, ...change }).success).toBe(false);
  });

  test.each([
    ["a", true],
    ["a/b.json", true],
    [".a/..b", true],
    ["", false],
    ["/a", false],
    ["a/", false],
    ["a/./b", false],
    ["../a", false],
    ["a\\b", false],
  ])("%j as a path: %j", (path, expected) => expect(isObjectPath(path)).toBe(expected));
});

test("every body is a request or has an answer, and reading never throws", () => {
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ jsonrpc: fc.constant("2.0"), id: fc.jsonValue(), method: fc.string(), params: fc.jsonValue() })
      .map((message) => JSON.stringify(message)),
  );
  fc.assert(
    fc.property(body, (text) => {
      const read = readDataRequest(text);
      return "request" in read ? typeof read.request.method === "string" : read.answer.jsonrpc === "2.0";
    }),
  );
});
