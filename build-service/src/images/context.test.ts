import { once } from "node:events";
import { chmodSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { folderFiles } from "../bundle/folder-files.ts";
import { sha256Hex } from "../bundle/ids.ts";
import { imageSource } from "./context.ts";
import { contextEntries } from "./digest.ts";
import { ignoreRules } from "./ignore.ts";

const EXAMPLE: FolderTree = {
  Dockerfile: "FROM scratch\nCOPY . /\n",
  "data/seed.json": "[]\n",
  "run.sh": { run: "#!/bin/sh\n" },
};

function sourceOf(disk: string, platform: string | null = null) {
  const { files } = folderFiles({ bundleDisk: disk, disk, shown: "envs/x" });
  return imageSource({ files, dockerfile: "Dockerfile", platform, shown: "envs/x" });
}

describe("a source digest", () => {
  test.each([
    [null, "17e871b36512c8fdc08142ccdec03b6ac50348fbbc62824056691321ec4e5597"],
    ["linux/amd64", "2ba51747d1c948e8235a31ebb251aed9f9637967d0e50dd0890837f41805c354"],
  ])("for platform %s is the same on every machine", (platform, digest) => {
    using folder = temporaryFolder(EXAMPLE);
    expect(sourceOf(folder.path, platform).digest).toBe(digest);
  });

  test("depends on neither times, nor the order of making, nor bits that an image can't see", async () => {
    using a = temporaryFolder(EXAMPLE);
    using b = temporaryFolder(Object.fromEntries(Object.entries(EXAMPLE).reverse()));
    chmodSync(join(b.path, "run.sh"), 0o711);
    chmodSync(join(b.path, "Dockerfile"), 0o664);
    utimesSync(join(b.path, "Dockerfile"), 1, 1);
    expect(sourceOf(b.path).digest).toBe(sourceOf(a.path).digest);
    expect(sha256Hex(await sourceOf(b.path).tar())).toBe(sha256Hex(await sourceOf(a.path).tar()));
  });

  test("entries are files and the folders that hold them, by code point", () => {
    const files = { "z/a": `sha256:${"1".repeat(64)}`, "\u{1f600}": `sha256:${"2".repeat(64)}`, "\uff5e": `sha256:${"3".repeat(64)}+x` };
    expect(contextEntries(files)).toEqual([
      ["z", "755", null],
      ["z/a", "644", "1".repeat(64)],
      ["\uff5e", "755", "3".repeat(64)],
      ["\u{1f600}", "644", "2".repeat(64)],
    ]);
  });
});

test("the tar is pinned byte for byte", async () => {
  using folder = temporaryFolder(EXAMPLE);
  expect(sha256Hex(await sourceOf(folder.path).tar())).toBe("5a06d715c89276b0eb69b4944711295f389ac86746debfb6fe8301959a88e3fb");
});

test("a file that can't be hashed is named", () => {
  using folder = temporaryFolder(EXAMPLE);
  const gone = { path: "data/gone", disk: join(folder.path, "data/gone"), executable: false };
  expect(() => imageSource({ files: [gone], dockerfile: "Dockerfile", platform: null, shown: "envs/x" })).toThrow(
    expect.objectContaining({
      message: "envs/x/data/gone: can't be read",
      why: `Error: ENOENT: no such file or directory, open '${gone.disk}'`,
      next: "make it readable, then try again",
    }),
  );
});

test("a file that changed after it was hashed is never written under the old digest", async () => {
  using folder = temporaryFolder(EXAMPLE);
  const source = sourceOf(folder.path);
  writeFileSync(join(folder.path, "data/seed.json"), "[1]\n");
  await expect(source.tar()).rejects.toThrow("envs/x/data/seed.json: changed after the run had read it");
});

describe("ignore files follow Docker's rules", () => {
  const paths = ["a.txt", "A.TXT", "sub/a.txt", "sub/deep/b.md", "c++/x", "foo(1).txt", "node_modules/x/y.js", ".env"];
  const cases: [string, string[]][] = [
    ["a.txt", ["A.TXT", "sub/a.txt", "sub/deep/b.md", "c++/x", "foo(1).txt", "node_modules/x/y.js", ".env"]],
    ["\ufeff**/*.txt\n# a comment\n", ["A.TXT", "sub/deep/b.md", "c++/x", "node_modules/x/y.js", ".env"]],
    ["sub\n!sub/deep", ["a.txt", "A.TXT", "sub/deep/b.md", "c++/x", "foo(1).txt", "node_modules/x/y.js", ".env"]],
    ["*\n!.env\r\n", [".env"]],
    ["c++\nfoo(1).txt\n/node_modules/", ["a.txt", "A.TXT", "sub/a.txt", "sub/deep/b.md", ".env"]],
  ];
  test.each(cases)("%j", (text, left) => {
    const rules = ignoreRules(text, []);
    expect(paths.filter((path) => !rules.file(path))).toEqual(left);
  });

  test("an ignored folder is not entered, unless a rule makes an exception", () => {
    expect(ignoreRules("node_modules", []).folder("node_modules")).toBe(true);
    expect(ignoreRules("node_modules\n!keep", []).folder("node_modules")).toBe(false);
    expect(ignoreRules("docker", ["docker/Dockerfile"]).folder("docker")).toBe(false);
  });

  test("what is kept stays", () => {
    expect(ignoreRules("*", ["Dockerfile"]).file("Dockerfile")).toBe(false);
  });

  test("a pattern that can't be one is an error of its author's", () => {
    expect(() => ignoreRules("a[", [])).toThrow(SyntaxError);
  });
});

describe("the files of a folder", () => {
  const walk = (bundle: string) => {
    const { files, problems } = folderFiles({ bundleDisk: bundle, disk: join(bundle, "envs/x"), shown: "envs/x" });
    return { paths: files.map(({ path }) => path), problems };
  };

  test("count with dot files and links into the bundle, without what the system leaves", () => {
    using folder = temporaryFolder({
      "shared/lib.py": "",
      "envs/x/.hidden": "",
      "envs/x/.DS_Store": "",
      "envs/x/sub/__pycache__/a.pyc": "",
      "envs/x/sub/e\u0301.txt": "",
      "envs/x/empty/": "",
      "envs/x/link.py": ["../../shared/lib.py"],
      "envs/x/shared": ["../../shared"],
    });
    expect(walk(folder.path)).toEqual({ paths: [".hidden", "link.py", "shared/lib.py", "sub/\u00e9.txt"], problems: [] });
  });

  test("are refused where they are no files, or have no name that can be read", async () => {
    using folder = temporaryFolder({ "envs/x/a": "" });
    writeFileSync(Buffer.concat([Buffer.from(join(folder.path, "envs/x/b")), Buffer.from([0xff])]), "");
    const server = createServer().listen(join(folder.path, "envs/x/socket"));
    await once(server, "listening");
    const { paths, problems } = walk(folder.path);
    server.close();
    expect(paths).toEqual(["a"]);
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "envs/x/b\\ufffd: can't be read: its name isn't UTF-8: rename it",
      "envs/x/socket: is neither a file nor a folder",
    ]);
  });

  test("are refused where they lead out, up, nowhere, or are twins", () => {
    using outside = temporaryFolder({ secret: "" });
    using folder = temporaryFolder({
      "envs/x/out": [join(outside.path, "secret")],
      "envs/x/a/up": [".."],
      "envs/x/broken": ["nowhere"],
      "envs/x/loop": ["loop"],
      "envs/x/e\u0301": "",
      "envs/x/\u00e9": "",
    });
    const { problems } = walk(folder.path);
    expect(problems.map(({ code, path, message }) => `${code} ${path}: ${message}`).sort()).toEqual([
      "link-up envs/x/a/up: leads to a folder that holds it: remove the link",
      "nfc-twins envs/x/\u00e9: e\\u0301 and \\u00e9 are one name in Unicode's composed form: rename one",
      "outside envs/x/out: leads out of the bundle: put what it points to into the bundle",
      "special envs/x/broken: is a broken link: it isn't there",
      "special envs/x/loop: is a broken link: its links form a loop",
    ]);
  });
});
