import { describe, expect, test } from "vitest";
import type { SourceEntry } from "../../../images/builder.ts";
import { copyInto } from "./copy.ts";
import { ImageTree } from "./tree.ts";

const file = (path: string): SourceEntry => ({ kind: "file", path, bytes: () => new Uint8Array(), executable: false });
const CONTEXT: readonly SourceEntry[] = [
  file("a.txt"),
  file("b.txt"),
  file("dir/c.txt"),
  file("dir/sub/d.txt"),
  { kind: "folder", path: "empty" },
  { kind: "link", path: "dir/up", target: "../../../../etc/passwd" },
  { kind: "link", path: "dir/root", target: "/srv/x" },
  { kind: "link", path: "link", target: "a.txt" },
];

function copied(sources: readonly string[], destination: string, tree = new ImageTree()): { tree: ImageTree; reasons: string[] } {
  const reasons = copyInto(tree, CONTEXT, { sources, destination, workingFolder: "/w", executable: null, refuseArchives: false });
  return { tree, reasons };
}

describe("COPY", () => {
  const cases: [sources: string[], destination: string, files: string[]][] = [
    [["a.txt"], "x", ["/w/x"]],
    [["a.txt"], "x/", ["/w/x/a.txt"]],
    [["a.txt"], "/x/y/z", ["/x/y/z"]],
    [["a.txt"], ".", ["/w/a.txt"]],
    [["a.txt"], "./", ["/w/a.txt"]],
    [["/a.txt"], "../up/", ["/up/a.txt"]],
    [["a.txt"], "../../../x", ["/x"]],
    [["a.txt", "b.txt"], "x", ["/w/x/a.txt", "/w/x/b.txt"]],
    [["*.txt"], "x/", ["/w/x/a.txt", "/w/x/b.txt"]],
    [["?.txt"], "x/", ["/w/x/a.txt", "/w/x/b.txt"]],
    [["[^b].txt"], "x/", ["/w/x/a.txt"]],
    [["d*/c.txt"], "x/", ["/w/x/c.txt"]],
    [["dir"], "x", ["/w/x/c.txt", "/w/x/sub/d.txt"]],
    [["dir/"], "/x/", ["/x/c.txt", "/x/sub/d.txt"]],
    [["./dir/sub"], "/x", ["/x/d.txt"]],
    [["."], "/x", ["/x/a.txt", "/x/dir/c.txt", "/x/dir/sub/d.txt"]],
  ];
  test.each(cases)("%j to %s", (sources, destination, files) => {
    const { tree, reasons } = copied(sources, destination);
    expect(reasons).toEqual([]);
    expect(files.filter((path) => tree.get(path)?.kind !== "file")).toEqual([]);
  });

  test("a file goes into a folder that is there", () => {
    const { tree } = copied(["dir"], "x");
    copied(["a.txt"], "x", tree);
    expect(tree.get("/w/x/a.txt")?.kind).toBe("file");
  });

  test("an empty folder is one afterwards", () => {
    expect(copied(["empty"], "x").tree.get("/w/x")).toEqual({ kind: "folder" });
  });

  test("a link stays within the image, wherever it points", () => {
    const { tree } = copied(["."], "/");
    expect(tree.get("/dir/up")).toEqual({ kind: "link", target: "/etc/passwd" });
    expect(tree.get("/dir/root")).toEqual({ kind: "link", target: "/srv/x" });
  });

  test("nothing is written through a link", () => {
    const { tree } = copied(["."], "/");
    expect(copied(["a.txt"], "/dir/root/a.txt", tree).reasons).toEqual(['"/dir/root" is a link by then, and can\'t become a folder']);
  });

  test("a link by its own name is refused", () => {
    expect(copied(["link"], "x").reasons).toEqual(['"link" is a link, which is followed only inside a copied folder']);
  });
});
