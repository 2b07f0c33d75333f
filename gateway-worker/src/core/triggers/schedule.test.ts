import { type ArmedClock, writtenInstant } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { firstMark, takeDue } from "./schedule.ts";
import { TriggerSpec } from "./spec.ts";
import { newTrigger } from "./trigger.ts";

const clock: ArmedClock = { t0: BigInt(Date.UTC(2030, 0, 1)) * 1000n, rate: 1, armedMs: 0 };
const HOUR = 3_600_000_000n;

/** The marks that a trigger makes in so many hours, as hours after the start. */
function marksOf(more: object, hours: number, budget = 1_000): { marks: number[]; capped: boolean; next: string | null } {
  const raw = { when: { type: "time", ...more }, actions: [] };
  const trigger = newTrigger("t", raw, TriggerSpec.parse(raw));
  const { when } = trigger.spec;
  if (when.type !== "time") throw new Error("no time trigger");
  const first = firstMark(when, clock);
  trigger.state.nextMark = first === null ? null : String(first);
  const { marks, capped } = takeDue(trigger, when, { clock, now: clock.t0 + BigInt(hours) * HOUR, budget });
  const { nextMark } = trigger.state;
  return {
    marks: marks.map((mark) => Number((mark - clock.t0) / HOUR)),
    capped,
    next: nextMark === null ? null : writtenInstant(BigInt(nextMark)),
  };
}

describe("G1 the marks of a time trigger", () => {
  test.each<[object, number[], string | null]>([
    [{ at: "PT2H" }, [2], null],
    [{ at: "2030-01-01T03:00:00Z" }, [3], null],
    [{ at: "PT9H" }, [], "2030-01-01T09:00:00Z"],
    [{ every: "PT2H" }, [2, 4], "2030-01-01T06:00:00Z"],
    [{ at: "PT1H", every: "PT2H" }, [1, 3, 5], "2030-01-01T07:00:00Z"],
    [{ every: "PT1H", count: 2 }, [1, 2], null],
    [{ every: "PT1H", until: "PT3H" }, [1, 2, 3], null],
    [{ after: "other", offset: "PT1H" }, [], null],
  ])("%j within five hours", (when, marks, next) => {
    expect(marksOf(when, 5)).toEqual({ marks, capped: false, next });
  });

  test("that are long overdue come a thousand at a time", () => {
    const due = marksOf({ every: "PT1H" }, 5_000);
    expect([due.marks.length, due.capped, due.marks.at(-1)]).toEqual([1_000, true, 1_000]);
  });
});
