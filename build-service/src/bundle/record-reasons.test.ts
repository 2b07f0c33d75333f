import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { changes, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { openLocalStore } from "../store/local.ts";

const TREE = {
  "artifacts/seed/seed.json": "{}",
  "envs/own/Dockerfile": "FROM scratch\n",
  "envs/own/env.toml": 'environment_name = "own"\n',
  "tasks/t.json": JSON.stringify([
    { id: "deploy", type: "deploy_env", env_id: "own" },
    { id: "verify", type: "env_outcome_verifier", env_id: "own", file_artifact_id: "seed" },
  ]),
};

test.each<[string, (record: Record<string, unknown>) => unknown]>([
  ["another id", (record) => ({ ...record, id: "@local/~/demo/other" })],
  ["another version", (record) => ({ ...record, version: 7 })],
  ["another type", (record) => ({ ...record, type: "skill" })],
  ["no body", ({ id, type, version }) => ({ id, type, version })],
  ["another body", (record) => ({ ...record, filename: "other.json" })],
  ["nothing that is a record", () => "gone"],
])("N7 a stored version that holds %s is written anew", async (_name, damaged) => {
  using folder = temporaryFolder(TREE);
  const store = memoryStore();
  await make({ folder: folder.path, store });
  const key = store.keys().find((candidate) => /^records\/artifact\/.*seed.*\/1\.json$/.test(candidate)) ?? "";
  const found = await store.objects.get(key);
  const record = JSON.parse(new TextDecoder().decode(found?.bytes));
  await store.objects.put(key, JSON.stringify(damaged(record)), { ...found?.metadata });
  const expected = ["artifacts/seed: v2 (the store's v1 is not what was written)"];
  expect(changes(await plan({ folder: folder.path, store }))).toEqual(expected);
  expect(changes((await make({ folder: folder.path, store })).plan)).toEqual(expected);
  expect(changes(await plan({ folder: folder.path, store }))).toEqual([]);
  expect(store.json(key.replace("/1.json", "/2.json"))).toEqual({ ...record, version: 2 });
});

test("N7 a stored version without the digest of what it was made from is written anew", async () => {
  using folder = temporaryFolder(TREE);
  const store = memoryStore();
  await make({ folder: folder.path, store });
  const key = store.keys().find((candidate) => /^records\/env\/.*\/1\.json$/.test(candidate)) ?? "";
  await store.objects.put(key, JSON.stringify(store.json(key)));
  expect(changes(await plan({ folder: folder.path, store }))).toEqual(["envs/own: v2 (the store's v1 is not what was written)"]);
});

test("N7 a version of the local store whose bytes are gone is written anew", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder(TREE);
  using state = temporaryFolder();
  const first = await openLocalStore(state.path, "write");
  await make({ folder: folder.path, store: first });
  await first.close();

  const blobs = join(state.path, "v3/r2");
  const files = readdirSync(blobs, { recursive: true, encoding: "utf8" }).filter((path) => path.includes("/blobs/"));
  const records = files.filter((path) => readFileSync(join(blobs, path), "utf8").includes('"source_digest":'));
  expect(records).toHaveLength(1);
  for (const path of records) rmSync(join(blobs, path));
  const store = await openLocalStore(state.path, "write");
  try {
    const expected = [
      "envs/own (Dockerfile image): v2 (the store has lost the record of v1)",
      expect.stringMatching(/^envs\/own: v2 \(artifact .* is written anew \(v1 → v2\)\)$/),
    ];
    expect(changes(await plan({ folder: folder.path, store }))).toEqual(expected);
    expect(changes((await make({ folder: folder.path, store })).plan)).toEqual(expected);
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([]);
  } finally {
    await store.close();
  }
});
