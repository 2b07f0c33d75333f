import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { checkBundle } from "./check.ts";
import { planBundle } from "./plan.ts";

const NOTHING_READ = {
  "envs/a/Dockerfile": "# FROM node:24-slim\n\n",
  "envs/a/env.toml": 'environment_name = "a"\n',
  "envs/b/Dockerfile": "# syntax\nFROM node:24-slim\n",
  "envs/b/env.toml": 'environment_name = "b"\n',
  "env/a/Dockerfile": "",
  "tsks/t.json": "[]",
  "test/t.json": "[]",
  tasksx: "",
  "tasks/none.json": "[]",
  "tasks/t.json": JSON.stringify([{ id: "x", type: "deploy_env", env_id: "a" }]),
};

test("what does nothing, and was probably meant to, is a warning of a check and of a plan", async () => {
  using folder = temporaryFolder(NOTHING_READ);
  const warnings = [
    { path: "envs/a/Dockerfile", message: "is empty: no image can be built from it" },
    { path: "tasks/none.json", message: "has no step: a run of it does nothing" },
    { path: "env", message: "isn't read: probably envs/" },
    { path: "tsks", message: "isn't read: probably tasks/" },
  ];
  expect(await checkBundle(folder.path)).toMatchObject({ problems: [], warnings });
  const { plan } = await planBundle({ folder: folder.path, selection: { tasks: [], evals: [] }, store: memoryStore() });
  expect(plan?.warnings).toEqual(warnings);
});

test("a folder that is no bundle says which of its folders was probably meant to be read", async () => {
  using folder = temporaryFolder({ "env/a/Dockerfile": "", "docs/x": "" });
  const { problems } = await checkBundle(folder.path);
  expect(problems.map(({ message }) => message)).toEqual([
    'is no bundle: it has none of the folders "envs", "agents", "artifacts", "skills", "tasks" and "evals"; env/ is probably envs/',
  ]);
});

test("names that only a store can have are told, with the entry that was probably meant", async () => {
  using folder = temporaryFolder({
    "envs/items/env.toml": 'environment_name = "items"\n',
    "envs/items/Dockerfile": "FROM scratch\n",
    "tasks/x.json": JSON.stringify([
      { id: "a", type: "deploy_env", env_id: "itmes" },
      { id: "b", type: "deploy_env", env_id: "team/crm", depends_on: ["c"] },
      { id: "d", type: "deploy_env", env_id: "items" },
    ]),
  });
  expect((await checkBundle(folder.path)).storeNames).toEqual([
    { path: "tasks/x.json: step 'a': env_id", kind: "env", id: "itmes", near: "items" },
    { path: "tasks/x.json: step 'b': env_id", kind: "env", id: "team/crm", near: null },
  ]);
});
