import { expect, test } from "vitest";
import { logLines } from "./log-lines.ts";

function linesOf(chunks: readonly (string | Uint8Array)[]): string[] {
  const found: string[] = [];
  const lines = logLines((line) => found.push(line));
  for (const chunk of chunks) lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  lines.end();
  return found;
}

test("lines come whole, however they arrive", () => {
  expect(linesOf(["a\nb", "c\r\n", "\nd"])).toEqual(["a", "bc", "", "d"]);
});

test("a character that is cut in two arrives whole", () => {
  const bytes = Buffer.from("é\n");
  expect(linesOf([bytes.subarray(0, 1), bytes.subarray(1)])).toEqual(["é"]);
});

test("a line that doesn't end is passed on in pieces", () => {
  const pieces = linesOf(Array.from({ length: 5 }, () => "x".repeat(30_000)));
  expect(pieces.map(({ length }) => length)).toEqual([90_000, 60_000]);
});
