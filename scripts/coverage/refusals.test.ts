import { expect, test } from "vitest";
import { refusalsIn, unreached } from "./refusals.ts";

const SOURCE = `export function check(value: string): void {
  if (value === "") throw new UserError({ what: "" });
  if (value === "a") problems.push({ code: "a" });
  if (value === "b") context.problem("b");
  const next = refuse("c");
  values.push(new Error("d"));
}
`;

test("each way to refuse is found, by its line", () => {
  expect(refusalsIn("x.ts", SOURCE)).toEqual([
    { line: 2, what: "new UserError" },
    { line: 3, what: "problems.push" },
    { line: 4, what: "problem" },
    { line: 5, what: "refuse" },
  ]);
});

test("one is unreached when the smallest statement around it never ran", () => {
  const lines = (start: number, end: number) => ({ start: { line: start }, end: { line: end } });
  const statementMap = { 0: lines(1, 7), 1: lines(2, 2), 2: lines(3, 3), 3: lines(4, 4), 4: lines(5, 5) };
  const coverage = { statementMap, s: { 0: 3, 1: 0, 2: 1, 3: 0, 4: 1 } };
  expect(unreached(refusalsIn("x.ts", SOURCE), coverage).map(({ line }) => line)).toEqual([2, 4]);
});
