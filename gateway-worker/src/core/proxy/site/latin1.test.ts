import { expect, test } from "vitest";
import { latin1Bytes, latin1Text } from "./latin1.ts";

const ALL = Uint8Array.from({ length: 256 }, (_, byte) => byte);

test.each([
  ["ASCII alone", Uint8Array.from({ length: 128 }, (_, byte) => byte)],
  ["every byte there is, more often than a call takes arguments", Uint8Array.from({ length: 10_000 }, (_, at) => at % 256)],
  ["what is UTF-8 too", Buffer.from("caf\u00e9 \u20ac")],
  ["a byte-order mark", Uint8Array.from([0xef, 0xbb, 0xbf, 0x41])],
  ["bytes that are no UTF-8, each of which reads as one character there", Uint8Array.from([0xff, 0x41, 0xfe])],
  ["nothing", new Uint8Array(0)],
])("bytes and characters have the same numbers, both ways: %s", (_what, bytes) => {
  const text = latin1Text(bytes);
  expect(text).toBe(Buffer.from(bytes).toString("latin1"));
  expect([...latin1Bytes(text)]).toEqual([...bytes]);
});

test("a page's bytes above 0x7F are characters of their own", () => {
  expect(latin1Text(ALL).length).toBe(256);
});
