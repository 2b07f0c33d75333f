import { expect, test } from "vitest";
import { countReport, type Report } from "./vitest.ts";

const file = (values: Partial<Report["testResults"][number]>) => ({ name: "a.test.ts", status: "passed", assertionResults: [], ...values });
const report = (...testResults: Report["testResults"]): Report => ({ success: true, testResults });
const ENDED = { code: 0, output: "" };

test("tests are counted by their status, skipped ones by name", () => {
  const assertionResults = [
    { fullName: "a", status: "passed", failureMessages: [] },
    { fullName: "b", status: "failed", failureMessages: [] },
    { fullName: "c", status: "skipped", failureMessages: [] },
    { fullName: "d", status: "todo", failureMessages: [] },
  ];
  expect(countReport(report(file({ status: "failed", assertionResults })), { code: 1, output: "" })).toEqual({
    passed: 1,
    failed: 1,
    skipped: ["c", "d"],
    trouble: "× b",
  });
});

test("under a failed test's name stand the first lines of why, plain and short, without its stack", () => {
  const failed = (fullName: string, ...failureMessages: string[]) => ({ fullName, status: "failed", failureMessages });
  const assertionResults = [
    failed("a", "AssertionError: \u001b[31mexpected 1\u001b[39m to be 2\n    at a.test.ts:1:1\n    at run.js:2:2", "another"),
    failed("b", `Error: ${"x".repeat(300)}\n\nsecond\nthird`),
  ];
  const { trouble } = countReport(report(file({ status: "failed", assertionResults })), { code: 1, output: "" });
  expect(trouble).toBe(`× a\n    AssertionError: expected 1 to be 2\n× b\n    Error: ${"x".repeat(193)}…\n    second`);
});

test("a file that can't be loaded counts as one failed", () => {
  expect(countReport(report(file({ status: "failed", message: "Cannot find module" })), { code: 1, output: "" })).toEqual({
    passed: 0,
    failed: 1,
    skipped: [],
    trouble: "× a.test.ts: Cannot find module",
  });
});

test("a run that fails for no test's sake counts as one failed", () => {
  expect(countReport(report(), { code: 1, output: "Unhandled Rejection\nsome reason\n" })).toEqual({
    passed: 0,
    failed: 1,
    skipped: [],
    trouble: "vitest ended with 1: Unhandled Rejection\nsome reason",
  });
});

test("a run without a report counts as one failed, with the end of its output", () => {
  expect(countReport(null, { code: 1, output: "no such project\n" })).toEqual({
    passed: 0,
    failed: 1,
    skipped: [],
    trouble: "no such project",
  });
});

test("a run without tests has none failed", () => {
  expect(countReport(report(), ENDED)).toEqual({ passed: 0, failed: 0, skipped: [], trouble: null });
});
