import type { ArmedClock, Instant } from "@agent-env/protocol";
import type { When } from "./spec.ts";
import { nthLength, parseMark } from "./times.ts";
import type { Trigger } from "./trigger.ts";

/** More marks than these in one look are left for the next. */
const MOST_DUE = 1_000;

export type Due = { readonly marks: readonly Instant[]; readonly capped: boolean };
type TimeWhen = Extract<When, { type: "time" }>;

/** The first mark of a trigger that waits for the clock alone; null for one that waits for another trigger. */
export function firstMark(when: TimeWhen, clock: ArmedClock): Instant | null {
  if (when.after !== undefined) return null;
  const start = when.at === undefined ? null : instantIn(when.at, clock);
  if (start !== null) return start;
  return when.every === undefined ? null : within(when, clock.t0 + nthLength(when.every, 0), clock);
}

/** The marks of a trigger that have come due, which then count as made. */
export function takeDue(trigger: Trigger, when: TimeWhen, at: { clock: ArmedClock; now: Instant; budget: number }): Due {
  const { state } = trigger;
  const marks: Instant[] = [];
  let mark = state.nextMark === null ? null : BigInt(state.nextMark);
  while (mark !== null && mark <= at.now && marks.length < Math.min(at.budget, MOST_DUE)) {
    marks.push(mark);
    state.marks++;
    mark = following(when, state.marks, mark, at.clock);
  }
  state.nextMark = mark === null ? null : String(mark);
  return { marks, capped: mark !== null && mark <= at.now };
}

function following(when: TimeWhen, made: number, mark: Instant, clock: ArmedClock): Instant | null {
  if (when.every === undefined || (when.count !== undefined && made >= when.count)) return null;
  return within(when, mark + nthLength(when.every, made), clock);
}

function within(when: TimeWhen, mark: Instant, clock: ArmedClock): Instant | null {
  const end = when.until === undefined ? null : instantIn(when.until, clock);
  return end !== null && mark > end ? null : mark;
}

function instantIn(text: string, { t0 }: ArmedClock): Instant | null {
  const mark = parseMark(text);
  if (mark === null) return null;
  return "at" in mark ? mark.at : t0 + mark.afterStart;
}
