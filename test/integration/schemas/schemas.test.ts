import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EVERY_KIND } from "../../fixtures/every-kind-bundle.ts";
import type { FolderTree } from "../../fixtures/folder.ts";
import { SUITE } from "../../fixtures/suite-bundle.ts";
import { CHECKED, RUN, STORE } from "../refusals/cases.ts";
import { schemaErrors, schemaOf } from "./validate.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/", import.meta.url));

/** The texts of a bundle's files that have a schema. */
function withSchema(tree: FolderTree): (readonly [string, string])[] {
  return Object.entries(tree).flatMap(([path, content]) =>
    typeof content === "string" && schemaOf(path) !== undefined ? [[path, content] as const] : [],
  );
}

function treeOf(folder: string): FolderTree {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const disks = files.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(disks.map((disk) => [relative(folder, disk), readFileSync(disk, "utf8")]));
}

describe("B4 what a check accepts, its schema accepts", () => {
  const bundles: (readonly [string, FolderTree])[] = [
    ...readdirSync(EXAMPLES).map((name) => [`examples/${name}`, treeOf(join(EXAMPLES, name))] as const),
    ["the suite of the tests", SUITE],
    ["a bundle of every kind", EVERY_KIND],
    ...STORE.map(({ name, tree }) => [name, tree] as const),
    // A type that nobody has is refused by a check, and by a schema taken for a plugin's.
    ...RUN.map(({ name, tree }) => [name, tree] as const),
  ];
  test.each(bundles)("%s", (_name, tree) => {
    const files = withSchema(tree);
    expect(files.length).toBeGreaterThan(0);
    expect(files.flatMap(([path, text]) => schemaErrors(path, text).map((error) => `${path}: ${error}`))).toEqual([]);
  });
});

describe("B4 a key that isn't known, or a value of another kind: the schema refuses too", () => {
  const cases = CHECKED.flatMap(({ cases }) => cases).flatMap(({ name, tree, lines }) => {
    const said = lines.filter(isOfKeyOrKind);
    const files = withSchema(tree).filter(([path]) => said.some((line) => line.includes(` ${entryOf(path)}: `)));
    return files.length === 0 ? [] : [{ name, files }];
  });

  test("there are many", () => {
    expect(cases.length).toBeGreaterThan(40);
  });

  test.each(cases)("$name", ({ files }) => {
    expect(files.filter(([path, text]) => schemaErrors(path, text).length === 0).map(([path]) => path)).toEqual([]);
  });
});

/** Problems of one file by itself: not what its fields say together, nor what they name. */
function isOfKeyOrKind(line: string): boolean {
  const codes = ["unknown-key", "wrong-value", "agent-value", "eval-shape", "task-shape", "image-keys", "empty-name", "bad-type"];
  const code = line.slice(0, line.indexOf(" "));
  return codes.includes(code) || (code === "bad-step" && /: expected | is missing: /.test(line));
}

/** The entry that problems of a file start with: `envs/a`, `tasks/t.json`. */
function entryOf(path: string): string {
  return path.startsWith("tasks/") || path.startsWith("evals/") ? path : path.slice(0, path.lastIndexOf("/"));
}

describe("B4 further files", () => {
  test.each([
    [
      ".agentenv/config.toml",
      '[run]\nconcurrency = 2\n[gateway]\nmode = "env:MODE?edge"\n[plugins]\npackages = ["a"]\n[plugins.a]\nx = 1\n',
    ],
    [".agentenv/config.toml", '[stores]\nrecords = "local"\nimage = { kind = "r2", url = "https://example.com" }\n'],
    ["agent-env.lock", `[images]\n"node:24-slim" = "sha256:${"0".repeat(64)}"\n`],
  ])("%s is accepted", (path, text) => {
    expect(schemaErrors(path, text)).toEqual([]);
  });

  test.each([
    [".agentenv/config.toml", "[runs]\n"],
    [".agentenv/config.toml", '[run]\nconcurrency = "two"\n'],
    [".agentenv/config.toml", '[gateway]\nmode = "cloud"\n'],
    ["agent-env.lock", '[images]\n"node:24-slim" = "latest"\n'],
    ["agent-env.lock", "[image]\n"],
  ])("%s is refused: %j", (path, text) => {
    expect(schemaErrors(path, text)).not.toEqual([]);
  });
});
