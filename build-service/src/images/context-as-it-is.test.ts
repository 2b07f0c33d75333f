import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { folderAsItIs, folderFiles, NOTHING_LEFT_OUT } from "../bundle/folder-files.ts";
import { imageSource } from "./context.ts";
import { contextEntries } from "./digest.ts";
import { ignoreRules } from "./ignore.ts";
import { readContext } from "./stored-context.ts";

const shown = "items";

function asItIs(disk: string, leaveOut = NOTHING_LEFT_OUT) {
  const { files, others = [] } = folderAsItIs({ disk, shown, leaveOut });
  return imageSource({ files, others, dockerfile: "Dockerfile", platform: null, shown });
}

describe("a context that is put", () => {
  const tree: FolderTree = {
    Dockerfile: "FROM scratch\n",
    "empty/": "",
    "data/seed.json": "[]\n",
    latest: ["data/seed.json"],
    "data/away": ["/nonexistent"],
    "data/up": [".."],
  };

  test("has empty folders, and links as links wherever they lead", async () => {
    using folder = temporaryFolder(tree);
    const source = asItIs(folder.path);
    const hashed = contextEntries(source.files).map(([path, mode, content]) => [path, mode, content?.replace(/^[0-9a-f]{64}$/, "hash")]);
    expect(hashed).toEqual([
      ["Dockerfile", "644", "hash"],
      ["data", "755", undefined],
      ["data/away", "777", "link:/nonexistent"],
      ["data/seed.json", "644", "hash"],
      ["data/up", "777", "link:.."],
      ["empty", "755", undefined],
      ["latest", "777", "link:data/seed.json"],
    ]);
    const plain = (entries: readonly object[]) => JSON.parse(JSON.stringify(entries));
    expect(plain(await readContext(await source.tar()))).toEqual(plain(await source.entries()));
    expect(plain(await source.entries())).toContainEqual({ kind: "link", path: "latest", target: "data/seed.json" });
  });

  test("is what a bundle's is where there are neither", () => {
    using folder = temporaryFolder({ Dockerfile: "FROM scratch\n", "data/seed.json": "[]\n" });
    const { files } = folderFiles({ bundleDisk: folder.path, disk: folder.path, shown });
    expect(asItIs(folder.path).digest).toBe(imageSource({ files, dockerfile: "Dockerfile", platform: null, shown }).digest);
  });

  test.each([
    ["empty\nlatest\ndata\n", ["Dockerfile"]],
    ["*\n!data/seed.json\n", ["Dockerfile", "data", "data/seed.json"]],
  ])("leaves out what %j does", (ignored, paths) => {
    using folder = temporaryFolder(tree);
    const source = asItIs(folder.path, ignoreRules(ignored, ["Dockerfile"]));
    expect(contextEntries(source.files).map(([path]) => path)).toEqual(paths);
  });
});
