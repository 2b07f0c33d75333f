import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { changes, lines, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { recordingBuilder } from "../../../test/fixtures/recording-builder.ts";
import { planBundle } from "./plan.ts";

const BUNDLE: FolderTree = {
  "envs/items/Dockerfile": "FROM base\n",
  "envs/items/env.toml": 'environment_name = "items"\n',
  "envs/shop/Dockerfile.backend": "FROM base\n",
  "envs/shop/Dockerfile.frontend": "FROM base\n",
  "envs/shop/env.toml": 'type = "website"\nenvironment_name = "shop"\n',
  "tasks/t.json": JSON.stringify([
    { id: "a", type: "deploy_env", env_id: "items" },
    { id: "b", type: "deploy_env", env_id: "shop" },
  ]),
};
const images = (all: readonly string[]) => all.filter((line) => line.includes(" image)"));

describe("B8.1 --rebuild", () => {
  test.each(["items", "envs/items", "envs/items/", "@local/… its id"])(
    "of the entry %j writes its image anew, and builds it",
    async (asked) => {
      using folder = temporaryFolder(BUNDLE);
      const builder = recordingBuilder();
      const request = { folder: folder.path, store: memoryStore(), builder };
      const { plan: first } = await make(request);
      builder.built.length = 0;
      const rebuild = [asked.startsWith("@") ? `${first.bundle.idRoot}/items` : asked];
      const predicted = changes(await plan({ ...request, rebuild }));
      expect(images(predicted)).toEqual(["envs/items (Dockerfile image): v2 (rebuild asked for)"]);
      expect(changes((await make({ ...request, rebuild })).plan)).toEqual(predicted);
      expect(builder.built).toEqual(["envs/items (Dockerfile image)"]);
      expect(changes(await plan(request))).toEqual([]);
    },
  );

  test("without an entry writes all images anew; what has changed besides says both", async () => {
    using folder = temporaryFolder(BUNDLE);
    const request = { folder: folder.path, store: memoryStore(), builder: recordingBuilder() };
    const { plan: first } = await make({ ...request, rebuild: "all" });
    expect(images(lines(first))[0]).toBe("envs/items (Dockerfile image): v1 (new; rebuild asked for)");
    expect(images(changes(await plan({ ...request, rebuild: "all" })))).toEqual([
      "envs/items (Dockerfile image): v2 (rebuild asked for)",
      "envs/shop (Dockerfile.backend image): v2 (rebuild asked for)",
      "envs/shop (Dockerfile.frontend image): v2 (rebuild asked for)",
    ]);
  });

  test("without an Engine writes a new version all the same", async () => {
    using folder = temporaryFolder(BUNDLE);
    const request = { folder: folder.path, store: memoryStore() };
    await make(request);
    expect(images(changes((await make({ ...request, rebuild: ["shop"] })).plan))).toHaveLength(2);
  });

  test("of what builds no image is refused", async () => {
    using folder = temporaryFolder(BUNDLE);
    const selection = { tasks: [], evals: [] };
    const { problems } = await planBundle({ folder: folder.path, selection, store: memoryStore(), rebuild: ["Items", "t", "envs/shop"] });
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      `--rebuild 'Items': is not in this bundle, but "envs/items" is: names are case-sensitive`,
      `--rebuild 't': has no image that this selection builds: those are "envs/items" and "envs/shop"`,
    ]);
  });

  test("a platform is part of what an image is made from", async () => {
    using folder = temporaryFolder(BUNDLE);
    const request = { folder: folder.path, store: memoryStore() };
    await make(request);
    expect(images(changes(await plan({ ...request, platform: "linux/amd64" })))[0]).toBe(
      "envs/items (Dockerfile image): v2 (config changed)",
    );
  });
});
