import { expect, test } from "vitest";
import { logText, outputLines } from "./log-frames.ts";

function frame(stream: 1 | 2, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const head = new Uint8Array(8);
  head[0] = stream;
  new DataView(head.buffer).setUint32(4, bytes.length);
  return Buffer.concat([head, bytes]);
}

const frames = Buffer.concat([frame(1, "first ö\nsec"), frame(2, "trouble\n"), frame(1, "ond\nlast")]);

test("a log is the text of both streams without the frames", () => {
  expect(logText(frames)).toBe("first ö\nsectrouble\nond\nlast");
});

test("a log that is cut ends with its last whole frame", () => {
  expect(logText(frames.subarray(0, frames.length - 1))).toBe("first ö\nsectrouble\n");
});

test("lines of standard output are whole wherever the chunks end", async () => {
  const inBytes = async function* () {
    for (const byte of frames) yield Uint8Array.of(byte);
  };
  expect(await Array.fromAsync(outputLines(inBytes()))).toEqual(["first ö", "second", "last"]);
});
