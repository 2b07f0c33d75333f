import { expect, test } from "vitest";
import { pauses } from "./pauses.ts";

test("long work with pauses is interrupted by what comes meanwhile", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  setTimeout(() => controller.abort(reason), 0);
  const pause = pauses(controller.signal);
  const work = async (): Promise<void> => {
    for (const end = performance.now() + 2000; performance.now() < end; ) await pause();
  };
  await expect(work()).rejects.toBe(reason);
});

test("work that is interrupted already does no further part", async () => {
  const reason = new Error("enough");
  await expect(pauses(AbortSignal.abort(reason))()).rejects.toBe(reason);
});
