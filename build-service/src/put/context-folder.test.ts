import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { openContext, openFolder } from "./context-folder.ts";

function refusal(open: () => unknown): unknown {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [error.message, error.why, error.next];
  }
}

describe("B6 a put of the file system's root", () => {
  test("is refused before anything in it is looked at, however it is named", () => {
    using folder = temporaryFolder({ Dockerfile: "FROM scratch\n" });
    symlinkSync("/", join(folder.path, "all"));
    const rest = ["all files of this machine would be put", "name a folder in it"];
    expect(refusal(() => openFolder("/", "/", "FOLDER"))).toEqual([`FOLDER: "/" is the file system's root`, ...rest]);
    expect(refusal(() => openFolder(join(folder.path, "all"), "all", "FOLDER"))).toEqual([
      `FOLDER: "all" is the file system's root`,
      ...rest,
    ]);
    const options = { dockerfile: "--dockerfile", context: "--context" };
    expect(refusal(() => openContext({ dockerfile: "Dockerfile", context: "/" }, folder.path, options))).toEqual([
      `--context: "/" is the file system's root`,
      ...rest,
    ]);
  });
});
