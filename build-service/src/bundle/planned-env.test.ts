import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folder.ts";
import { plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { putNextVersion } from "../store/versions.ts";
import { plannedEnv } from "./planned-env.ts";

test("a stored env of a type that no installed type has is not deployed", async () => {
  using folder = temporaryFolder({
    "envs/a/env.toml": 'environment_name = "a"\n',
    "envs/a/Dockerfile": "FROM base\n",
    "tasks/t.json": JSON.stringify([{ id: "up", type: "deploy_env", env_id: "a" }]),
  });
  const store = memoryStore();
  await putNextVersion(store, "env", { id: "odd", type: "vessel" }, {});
  await expect(plannedEnv(await plan({ folder: folder.path, store }), store, "odd")).rejects.toMatchObject({
    message: "odd: an env of type vessel is not deployed by itself",
    why: "no installed type has that name",
    next: "name an env of another type",
  });
});
