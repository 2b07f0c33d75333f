import { expect, test } from "vitest";
import { countReport, type Report } from "./vitest.ts";

const file = (values: Partial<Report["testResults"][number]>) => ({ name: "a.test.ts", status: "passed", assertionResults: [], ...values });
const report = (...testResults: Report["testResults"]): Report => ({ success: true, testResults });
const ENDED = { code: 0, output: "" };

test("tests are counted by their status, skipped ones by name", () => {
  const assertionResults = [
    { fullName: "a", status: "passed" },
    { fullName: "b", status: "failed" },
    { fullName: "c", status: "skipped" },
    { fullName: "d", status: "todo" },
  ];
  expect(countReport(report(file({ status: "failed", assertionResults })), { code: 1, output: "" })).toEqual({
    passed: 1,
    failed: 1,
    skipped: ["c", "d"],
    trouble: "× b",
  });
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
