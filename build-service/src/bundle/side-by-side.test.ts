import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { sideBySide } from "./side-by-side.ts";

const never = new AbortController().signal;

test("results come by item, with at most so many under way", async () => {
  let running = 0;
  let most = 0;
  const work = sideBySide([1, 2, 3, 4, 5], 2, never, async (item) => {
    most = Math.max(most, ++running);
    await turn();
    running--;
    return item * 10;
  });
  expect(await Promise.all([5, 4, 3, 2, 1].map((item) => work.result(item)))).toEqual([50, 40, 30, 20, 10]);
  await work.end();
  expect(most).toBe(2);
});

test("the first error stops the others, and is what all of them failed for", async () => {
  const begun: string[] = [];
  const work = sideBySide(["slow", "broken", "late"], 2, never, async (item, signal) => {
    begun.push(item);
    if (item === "broken") throw new Error("the build broke");
    await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  await expect(work.result("slow")).rejects.toThrow("the build broke");
  await expect(work.result("late")).rejects.toThrow("the build broke");
  await work.end();
  expect(begun).toEqual(["slow", "broken"]);
});

test("the end waits for what is under way", async () => {
  let hasEnded = false;
  const work = sideBySide(["x"], 1, never, async (_item, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await turn();
    hasEnded = true;
  });
  await work.end();
  expect(hasEnded).toBe(true);
});
