import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/fixtures/folder.ts";
import { fillFolder, keptFolder } from "./kept-folder.ts";
import { thisMachine } from "./machine.ts";

describe("a kept folder", () => {
  test("is another one as soon as a file that it is made of changes", () => {
    using files = temporaryFolder({ one: "a", two: "b" });
    const of = () => keptFolder(thisMachine({ XDG_CACHE_HOME: "/cache" }), "npm", [join(files.path, "one"), join(files.path, "two")]);
    const before = of();
    expect(before).toMatch(/^\/cache\/agent-env\/npm\/[0-9a-f]{12}$/);
    expect(of()).toBe(before);
    writeFileSync(join(files.path, "two"), "c");
    expect(of()).not.toBe(before);
  });

  test("is there only once it is whole, and what was there before is gone", async () => {
    using cache = temporaryFolder({ "kept/stale": "old" });
    const folder = join(cache.path, "kept");
    const failing = fillFolder(folder, async (unfinished) => {
      writeFileSync(join(unfinished, "half"), "");
      throw new Error("no disk left");
    });
    await expect(failing).rejects.toThrow("no disk left");
    expect(existsSync(folder)).toBe(false);
    await fillFolder(folder, async (unfinished) => writeFileSync(join(unfinished, "whole"), "new"));
    expect(readFileSync(join(folder, "whole"), "utf8")).toBe("new");
    expect(["half", "stale"].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  });
});
