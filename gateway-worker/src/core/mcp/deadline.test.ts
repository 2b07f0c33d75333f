import { expect, test } from "vitest";
import { Cancellation } from "./cancellation.ts";
import { Deadline } from "./deadline.ts";

const CANCELLED = { kind: "unknown", reason: "cancelled" };
const never = (): Promise<never> => new Promise(() => undefined);

test("a cancelled call breaks off what is under way, and its wait", async () => {
  const cancellation = new Cancellation();
  const deadline = new Deadline(60_000, cancellation);
  let aborted = 0;
  deadline.abort = () => aborted++;
  const waiting = deadline.orEnd(never());
  cancellation.cancel();
  await expect(waiting).rejects.toMatchObject(CANCELLED);
  expect(aborted).toBe(1);
  deadline.stop();
});

test("what begins after the call was cancelled is broken off at once", async () => {
  const cancellation = new Cancellation();
  cancellation.cancel();
  const deadline = new Deadline(60_000, cancellation);
  let aborted = 0;
  deadline.abort = () => aborted++;
  expect(aborted).toBe(1);
  await expect(deadline.orEnd(never())).rejects.toMatchObject(CANCELLED);
  deadline.stop();
});

test("a stopped deadline hears of no cancellation", () => {
  const cancellation = new Cancellation();
  const deadline = new Deadline(60_000, cancellation);
  let aborted = 0;
  deadline.abort = () => aborted++;
  deadline.stop();
  cancellation.cancel();
  expect(aborted).toBe(0);
});

test("silence ends the wait", async () => {
  const deadline = new Deadline(1, undefined);
  await expect(deadline.orEnd(never())).rejects.toMatchObject({ kind: "timeout", reason: "no answer within 0.001s" });
});
