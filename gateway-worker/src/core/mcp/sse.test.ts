import { describe, expect, test } from "vitest";
import { EventTooLarge, SseReader } from "./sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const all = (chunks: Uint8Array[]) => {
  const reader = new SseReader(1_000_000);
  return chunks.flatMap((chunk) => reader.push(chunk)).map(({ data }) => data);
};
const STREAM =
  "\ufeff: comment\r\n\r\ndata: one\r\nid: 7\r\n\r\nevent: x\ndata:two\ndata: lines \u{1f600}\n\n\rdata: three\r\rdata\n\ndata: cut";

describe("a stream of events", () => {
  test("takes every line ending, several data lines, comments and a byte-order mark", () => {
    expect(all([bytes(STREAM)])).toEqual(["one", "two\nlines \u{1f600}", "three", ""]);
  });

  test("F47 reads the same in chunks of any size", () => {
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const whole = bytes(STREAM);
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.slice(at * size, (at + 1) * size));
      expect([size, all(chunks)]).toEqual([size, ["one", "two\nlines \u{1f600}", "three", ""]]);
    }
  });

  test("remembers the id, and the retry that was asked for", () => {
    const reader = new SseReader(1_000);
    expect(reader.push(bytes("id: a\nretry: 250\ndata: x\n\n"))).toEqual([{ data: "x" }]);
    expect(reader.lastId).toBe("a");
    expect(reader.retryMs).toBe(250);
  });

  test.each(["\u2603", "\u0001a", "a\u007f", "x".repeat(2_000)])("an id that no header could give back is no id: %j", (id) => {
    const reader = new SseReader(10_000);
    reader.push(bytes(`id: a\ndata: x\n\nid: ${id}\ndata: y\n\n`));
    expect(reader.lastId).toBe("a");
  });

  test("F28 one event over the limit is an error, many small ones are not", () => {
    const reader = new SseReader(1_000);
    for (let n = 0; n < 100; n++) reader.push(bytes(`data: ${"x".repeat(100)}\n\n`));
    expect(() => reader.push(bytes(`data: ${"x".repeat(2_000)}`))).toThrow(EventTooLarge);
  });

  test("F44 an 8 MB line in small chunks takes time by its length", () => {
    const reader = new SseReader(16_000_000);
    const chunk = bytes("x".repeat(8_192));
    const began = performance.now();
    reader.push(bytes("data: "));
    for (let n = 0; n < 1_000; n++) reader.push(chunk);
    expect(reader.push(bytes("\n\n"))[0]?.data.length).toBe(8_192_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
