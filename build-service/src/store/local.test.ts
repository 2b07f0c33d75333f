import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { makeStateDir } from "./local.ts";

test("a state folder that can't be made is named, with the variable that names another", () => {
  using folder = temporaryFolder({ file: "" });
  const stateDir = join(folder.path, "file/state");
  expect(() => makeStateDir(stateDir)).toThrow(
    expect.objectContaining({
      message: `${stateDir}: the state folder can't be written`,
      why: expect.stringMatching(/^E(?:NOTDIR|EXIST): /),
      next: "set AGENT_ENV_STATE_DIR to a folder that you can write",
      exitCode: 2,
    }),
  );
});
