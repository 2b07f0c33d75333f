import { expect, test } from "vitest";
import { refusalsIn, unreached } from "./refusals.ts";

const SOURCE = `export function check(value: string): void {
  if (value === "") throw new UserError({ what: "" });
  if (value === "a") problems.push({ code: "a", message: "" });
  if (value === "b") context.problem("b");
  const next = refuse("c");
  values.push(new Error("d"));
  return value === "e" ? [] : [{ code: "e", path, message: "" }];
}
`;

test("each way to refuse is found, by its place", () => {
  expect(refusalsIn("x.ts", SOURCE)).toEqual([
    { line: 2, column: 26, what: "new UserError", text: 'new UserError({ what: "" })' },
    { line: 3, column: 21, what: "problems.push", text: 'problems.push({ code: "a", message: "" })' },
    { line: 4, column: 21, what: "problem", text: 'context.problem("b")' },
    { line: 5, column: 15, what: "refuse", text: 'refuse("c")' },
    { line: 7, column: 31, what: "problem", text: '{ code: "e", path, message: "" }' },
  ]);
});

test("one is unreached when a statement or an arm around it never ran, and not for an if whose other arm ran", () => {
  const region = (line: number, from: number, to: number | null, endLine = line) => ({
    start: { line, column: from },
    end: { line: endLine, column: to },
  });
  const coverage = {
    statementMap: {
      0: region(2, 2, null),
      1: region(2, 20, null),
      2: region(3, 2, null),
      3: region(3, 21, null),
      4: region(4, 21, null),
      5: region(5, 15, null),
      6: region(7, 2, null),
    },
    s: { 0: 3, 1: 0, 2: 3, 3: 1, 4: 0, 5: 1, 6: 2 },
    branchMap: {
      0: { type: "if", locations: [region(3, 2, null), { start: {}, end: {} }] },
      1: { type: "cond-expr", locations: [region(7, 25, 27), region(7, 30, 64)] },
    },
    b: { 0: [0, 3], 1: [2, 0] },
  };
  expect(unreached(refusalsIn("x.ts", SOURCE), coverage).map(({ line }) => line)).toEqual([2, 4, 7]);
});
