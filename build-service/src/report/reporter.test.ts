import { describe, expect, test } from "vitest";
import type { StageEvent } from "./events.ts";
import { jsonReporter, textReporter } from "./reporter.ts";

function recorder(isTTY: boolean) {
  const written: string[] = [];
  return { output: { write: (text: string) => written.push(text), isTTY, columns: 40 }, written };
}

const step: StageEvent = { kind: "image", entry: "envs/items (Dockerfile image)", phase: "log", message: "Installing", step: 2, steps: 3 };
const write: StageEvent = { kind: "write", entry: "envs/items", message: "v2 (config changed)", version: 2, reasons: ["config changed"] };

describe("a log", () => {
  test("holds a line for what happened and none for progress", () => {
    const { output, written } = recorder(false);
    const reporter = textReporter(output, () => 0);
    reporter.emit(step);
    reporter.emit(write);
    reporter.close();
    expect(written).toEqual(["envs/items: v2 (config changed)\n"]);
  });
});

describe("what a script says", () => {
  test("can't repaint the terminal, nor be taken for a line of ours", () => {
    const { output, written } = recorder(false);
    textReporter(output, () => 0).emit({ kind: "log", level: "info", message: "red \u001b[31m\r\ntasks/a.json: passed" });
    expect(written).toEqual(["red \\u001b[31m\\u000d\n  tasks/a.json: passed\n"]);
  });
});

describe("a terminal", () => {
  test("shows what is going on in its last line, cut to its width, and clears it at the end", () => {
    const { output, written } = recorder(true);
    const reporter = textReporter(output, () => 0);
    reporter.emit(step);
    reporter.close();
    expect(written).toEqual(["\r\u001b[2Kenvs/items (Dockerfile image): step 2 o", "\r\u001b[2K"]);
  });
});

describe("--json", () => {
  test("is one object a line, with its time", () => {
    const { output, written } = recorder(false);
    jsonReporter(output, () => new Date(0)).emit(write);
    expect(JSON.parse(written.join(""))).toEqual({ at: "1970-01-01T00:00:00.000Z", ...write });
  });
});
