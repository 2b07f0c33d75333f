import { expect, test } from "vitest";
import { stepsBefore } from "./step-order.ts";

const step = (id: string, depends_on?: unknown) => ({ id, type: "x", ...(depends_on === undefined ? {} : { depends_on }) });

test("a step runs after what it depends on, directly or not, and after all earlier ones when it doesn't say", () => {
  const steps = [
    step("a"),
    step("b", []),
    step("c", ["a"]),
    step("d", [{ task_step_id: "c" }]),
    step("e"),
    step("f", ["g"]),
    step("g", null),
  ];
  expect([...stepsBefore(steps)].map(([id, before]) => [id, [...before]])).toEqual([
    ["a", []],
    ["b", []],
    ["c", ["a"]],
    ["d", ["c", "a"]],
    ["e", ["a", "b", "c", "d"]],
    ["f", []],
    ["g", ["a", "b", "c", "d", "e", "f"]],
  ]);
});
