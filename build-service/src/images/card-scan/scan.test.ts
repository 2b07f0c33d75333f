import { expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../../test/fixtures/folder.ts";
import { folderFiles } from "../../bundle/folder-files.ts";
import { scanCards } from "./scan.ts";

const python = (name: string): string => `@environment_card(name="${name}")\nclass A: ...\n`;
const typescript = (name: string): string => `environmentCard({ name: "${name}" });\n`;

async function scan(tree: FolderTree, dockerfile = "Dockerfile") {
  using folder = temporaryFolder(tree);
  const { files } = folderFiles({ bundleDisk: folder.path, disk: folder.path, shown: "envs/x" });
  return await scanCards(files, dockerfile);
}

test("B3.2 both languages count together", async () => {
  expect(await scan({ "a.py": python("items"), "b.ts": typescript("items"), "c.mjs": typescript("other") })).toEqual({
    names: ["items", "other"],
    hints: [],
  });
});

test("B3.2 the Dockerfile's own folder is searched first", async () => {
  expect((await scan({ "docker/a.py": python("near"), "b.py": python("far") }, "docker/Dockerfile")).names).toEqual(["near"]);
});

test("B3.2 the whole folder is searched only if nothing was found there", async () => {
  expect((await scan({ "docker/a.py": "", "b.py": python("far") }, "docker/Dockerfile")).names).toEqual(["far"]);
});

test("declarations and installed packages are not the author's source", async () => {
  const tree = { "a.d.ts": typescript("a"), "node_modules/x/b.js": typescript("b"), "c.txt": python("c"), "d.jsx": typescript("d") };
  expect((await scan(tree)).names).toEqual([]);
});

test("where no name was found, the places that could have named one are told", async () => {
  const tree = {
    "a.py": "@environment_card(name=NAME)\nclass A: ...\n",
    "b.py": `${python("b")}def f(:\n`,
    "c.py": Buffer.from([...Buffer.from(python("c")), 0xff]),
    "d.py": "def f(:\n",
    "e.ts": "environmentCard(card);\n",
  };
  expect(await scan(tree)).toEqual({
    names: [],
    hints: [
      "a.py line 1: the card's name is no literal",
      "b.py can't be read: line 3 column 7: syntax error",
      "c.py can't be read: it isn't UTF-8",
      "e.ts line 1: the card's name is no literal",
    ],
  });
});
