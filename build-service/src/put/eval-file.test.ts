import { join } from "node:path";
import { problemLine, Refused } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { evalTasks } from "./eval-file.ts";

function refusal(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.problems.map(problemLine);
  }
}

describe("B6 the file of an eval", () => {
  const SHAPE = "an eval's file is a JSON array of objects with task_id and, for a fixed version, task_version; found something else";
  test.each([
    ["[]", "lists no task, and an eval has at least one"],
    ["{}", SHAPE],
    ['[{"task_id": ""}]', `${SHAPE}, in 0.task_id: Too small: expected string to have >=1 characters`],
  ])("%s is refused", (text, message) => {
    using folder = temporaryFolder({ "e.json": text });
    const disk = join(folder.path, "e.json");
    expect(refusal(() => evalTasks(disk, folder.path))).toEqual([`${disk}: ${message}`]);
  });
});
