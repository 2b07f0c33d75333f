import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastSegment } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { changes, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { exportRecord } from "../export/export-record.ts";
import { storedRecord } from "../store/stored.ts";
import { BUILT_IN } from "../types/registry.ts";
import { folderFiles } from "./folder-files.ts";
import { NEVER_ABORTED } from "./pauses.ts";

const NAMES = ["__proto__", "constructor", "toString"];
const treeOf = (folder: string, name: (text: string) => string) =>
  Object.fromEntries(NAMES.map((text) => [`${folder}/${name(text)}`, text]));

/** A bundle in which files, folders and keys have the names of what every object inherits. */
const BUNDLE = {
  ...treeOf("artifacts/tree", (name) => name),
  ...treeOf("artifacts/data", (name) => `metadata/${name}/${name}`),
  ...treeOf("artifacts/data", (name) => `${name}/${name}`),
  ...treeOf("skills/brew", (name) => name),
  "artifacts/data/artifact.toml": 'type = "environment_universe"\n',
  "skills/brew/SKILL.md": "---\nname: brew\ndescription: Brews.\nmetadata:\n  __proto__: a\n  constructor: b\n---\n",
  "tasks/t.json": JSON.stringify([
    { id: "box", type: "deploy_sandbox", sandbox_name: "box", sandbox_mode: "vm" },
    ...["tree", "data", "brew"].map((id) => ({ id, type: "load_artifact", sandbox_name: "box", artifact_id: id })),
  ]),
};

test("B8.1 files named like what objects inherit are written, planned as unchanged, and given back", async () => {
  using folder = temporaryFolder(BUNDLE);
  const store = memoryStore();
  const { plan: made } = await make({ folder: folder.path, store });
  expect(changes(await plan({ folder: folder.path, store }))).toEqual([]);

  using copy = temporaryFolder();
  for (const { id } of made.writes.filter(({ kind, id }) => kind === "artifact" && !lastSegment(id).includes("__"))) {
    const record = await storedRecord(store, { kind: "artifact", ids: [id], version: null });
    await exportRecord("artifact", record, join(copy.path, lastSegment(id)), { store, registry: BUILT_IN, signal: NEVER_ABORTED });
  }
  const given = folderFiles({ bundleDisk: copy.path, disk: copy.path, shown: "copy" }).files.map(({ path }) => path);
  const written = Object.keys(BUNDLE).filter((path) => !path.startsWith("tasks/"));
  const paths = written.map((path) => path.replace(/^(artifacts|skills)\//, "")).concat("tree/artifact.toml");
  expect(given.toSorted()).toEqual(paths.toSorted());

  const skill = await storedRecord(store, {
    kind: "artifact",
    ids: [made.writes.find(({ type }) => type === "skill")?.id ?? ""],
    version: null,
  });
  expect(JSON.stringify(skill["skill_metadata"])).toBe('{"__proto__":"a","constructor":"b"}');

  for (const name of ["tree/__proto__", "tree/constructor", "data/metadata/__proto__/__proto__"]) {
    writeFileSync(join(folder.path, "artifacts", name), "changed");
  }
  expect(changes(await plan({ folder: folder.path, store }))).toEqual([
    "artifacts/data: v2 (files changed: metadata/__proto__/__proto__)",
    "artifacts/tree: v2 (files changed: __proto__, constructor)",
  ]);
});
