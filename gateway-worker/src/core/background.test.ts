import { expect, test } from "vitest";
import { inBackground } from "./background.ts";

test("G3 a bug in the background is logged, and never an unhandled rejection", async () => {
  const log: string[] = [];
  const begun: Promise<unknown>[] = [];
  inBackground({ background: (work) => void begun.push(work), log: (line) => void log.push(line) }, Promise.reject(new RangeError("deep")));
  await Promise.all(begun);
  expect(log).toEqual([expect.stringMatching(/^bug: RangeError: deep\n/)]);
});
