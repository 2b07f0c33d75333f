import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { problemLine } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { asAnotherUser } from "../../../test/fixtures/another-user.ts";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { folderFiles } from "./folder-files.ts";
import { listFolder } from "./listing.ts";

test("what may not be read is a problem of its path, and the rest is read", () => {
  using folder = temporaryFolder({ "envs/x/a": "", "envs/x/b": "" });
  const disk = join(folder.path, "envs/x");
  mkdirSync(join(disk, "closed"), { mode: 0 });
  mkdirSync(join(disk, "listed"));
  writeFileSync(join(disk, "listed/c"), "");
  chmodSync(join(disk, "listed"), 0o744);
  chmodSync(join(disk, "a"), 0);
  const { files, problems } = asAnotherUser(folder.path, () => folderFiles({ bundleDisk: folder.path, disk, shown: "envs/x" }));
  expect(files.map(({ path }) => path)).toEqual(["b"]);
  expect(problems.map(problemLine)).toEqual([
    "envs/x/a: can't be read: permission denied",
    "envs/x/closed: can't be read: permission denied",
    "envs/x/listed/c: can't be read: permission denied",
  ]);
});

test("a folder whose items may not be read is listed without them, each a problem", () => {
  using folder = temporaryFolder({ "envs/file": "" });
  const envs = join(folder.path, "envs");
  const listed = () => asAnotherUser(folder.path, () => listFolder(envs, "envs"));
  chmodSync(envs, 0o744);
  expect(listed()).toEqual({ items: [], problems: [{ code: "special", path: "envs/file", message: "can't be read: permission denied" }] });
  chmodSync(envs, 0o700);
  expect(listed()).toEqual({ items: [], problems: [{ code: "special", path: "envs", message: "can't be read: permission denied" }] });
  chmodSync(envs, 0o755);
});
