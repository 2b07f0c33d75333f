import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, lines, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE, SUITE_SELECTION } from "../../../test/fixtures/suite-bundle.ts";
import { putNextVersion } from "../store/versions.ts";

describe("B8.1, B8.2 what is written anew", () => {
  const edits: [string, (folder: string) => void, string[]][] = [
    [
      "a server's file: its image, its env, and the multi that holds it",
      (folder) => writeTree(folder, { "envs/items/server.ts": 'environmentCard({ name: "items" }); // edited\n', "envs/items/new.ts": "" }),
      [
        "envs/items (Dockerfile image): v2 (files added: new.ts; files changed: server.ts)",
        "envs/items: v2 (artifact <root>/items__env_image is written anew (v1 → v2))",
        "envs/suite: v2 (env <root>/items is written anew (v1 → v2))",
      ],
    ],
    [
      "B2.4 a site's file, without ignore files: both its images",
      (folder) => writeTree(folder, { "envs/shop/page.html": "" }),
      [
        "envs/shop (Dockerfile.backend image): v2 (files added: page.html)",
        "envs/shop (Dockerfile.frontend image): v2 (files added: page.html)",
        "envs/shop: v2 (artifact <root>/shop__backend_image is written anew (v1 → v2); artifact <root>/shop__frontend_image is written anew (v1 → v2))",
        "envs/suite: v2 (env <root>/shop is written anew (v1 → v2))",
      ],
    ],
    [
      "an executable bit is named, other bits don't count",
      (folder) => {
        chmodSync(join(folder, "envs/items/server.ts"), 0o755);
        chmodSync(join(folder, "envs/items/Dockerfile"), 0o660);
      },
      [
        "envs/items (Dockerfile image): v2 (files changed: server.ts (mode))",
        "envs/items: v2 (artifact <root>/items__env_image is written anew (v1 → v2))",
        "envs/suite: v2 (env <root>/items is written anew (v1 → v2))",
      ],
    ],
    [
      "a default that is written out is no change, another value is",
      (folder) =>
        writeTree(folder, {
          "envs/suite/env.toml":
            'type = "multi"\nenv_provider_type = "gateway"\nmcp_server_envs = ["items"]\nwebsite_envs = ["shop"]\nname = "suite"\n',
        }),
      ["envs/suite: v2 (config changed)"],
    ],
    [
      "a seed's file: the seed, not the task that loads it",
      (folder) => writeTree(folder, { "artifacts/seed/items/items.json": "[1]\n" }),
      ["artifacts/seed: v2 (files changed: items/items.json)"],
    ],
    [
      "a step: its task",
      (folder) => writeTree(folder, { "tasks/items.json": '[{"id":"deploy","type":"deploy_env","env_id":"items","ttl_seconds":99}]' }),
      ["tasks/items.json: v2 (config changed)"],
    ],
    [
      "a README and what is ignored: nothing",
      (folder) => writeTree(folder, { "README.md": "Other\n", "notes.txt": "", "envs/items/.DS_Store": "" }),
      [],
    ],
  ];
  test.each(edits)("%s", async (_name, edit, expected) => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await make({ folder: folder.path, store, selection: SUITE_SELECTION });
    edit(folder.path);
    const planned = await plan({ folder: folder.path, store, selection: SUITE_SELECTION });
    const root = planned.bundle.idRoot;
    expect(changes(planned).map((line) => line.replaceAll(root, "<root>"))).toEqual(expected);
    const { plan: made } = await make({ folder: folder.path, store, selection: SUITE_SELECTION });
    expect(lines(made)).toEqual(lines(planned));
    expect(changes(await plan({ folder: folder.path, store, selection: SUITE_SELECTION }))).toEqual([]);
  });

  test("going back to old content makes another version, never the old one again", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await make({ folder: folder.path, store, selection: SUITE_SELECTION });
    writeTree(folder.path, { "artifacts/check/check.ts": "edited" });
    await make({ folder: folder.path, store, selection: SUITE_SELECTION });
    writeTree(folder.path, { "artifacts/check/check.ts": String(SUITE["artifacts/check/check.ts"]) });
    expect(changes((await make({ folder: folder.path, store, selection: SUITE_SELECTION })).plan)).toEqual([
      "artifacts/check: v3 (files changed: check.ts)",
    ]);
  });

  test("B2.4 with ignore files that separate a site's sides, only the one that sees the edit", async () => {
    const tree: FolderTree = {
      ...SUITE,
      "envs/shop/page.html": "",
      "envs/shop/Dockerfile.backend.dockerignore": "page.html\nDockerfile.frontend*\n",
      "envs/shop/Dockerfile.frontend.dockerignore": "*\n!page.html\n",
    };
    using folder = temporaryFolder(tree);
    const store = memoryStore();
    await make({ folder: folder.path, store });
    writeTree(folder.path, { "envs/shop/page.html": "<p>" });
    expect(changes(await plan({ folder: folder.path, store }))[0]).toBe(
      "envs/shop (Dockerfile.frontend image): v2 (files changed: page.html)",
    );
    expect(changes(await plan({ folder: folder.path, store }))).toHaveLength(3);
    writeTree(folder.path, { "envs/shop/page.html": "", "envs/shop/server.ts": 'environmentCard({ name: "shop" }) // edited\n' });
    expect(changes(await plan({ folder: folder.path, store }))[0]).toBe(
      "envs/shop (Dockerfile.backend image): v2 (files changed: server.ts)",
    );
    expect(changes(await plan({ folder: folder.path, store }))).toHaveLength(3);
  });

  test("what something else wrote, took away, or another bundle wrote is said", async () => {
    using folder = temporaryFolder({ ...SUITE, "artifacts/check/artifact.toml": 'id = "@local/shared/check"\n' });
    const store = memoryStore();
    await make({ folder: folder.path, store });
    const root = (await plan({ folder: folder.path, store })).bundle.idRoot;
    await putNextVersion(
      store,
      "env",
      { id: `${root}/suite`, type: "multi", metadata: {}, env_provider_type: "gateway", mcp_server_envs: [], website_envs: [] },
      {},
    );
    for (const key of store.keys()) if (key.startsWith("records/") && key.includes("-items-env-image-")) await store.objects.remove(key);
    using other = temporaryFolder({
      ...SUITE,
      "artifacts/check/artifact.toml": 'id = "@local/shared/check"\n',
      "artifacts/check/check.ts": "edited",
    });
    expect(changes(await plan({ folder: folder.path, store })).map((line) => line.replaceAll(root, "<root>"))).toEqual([
      "envs/items (Dockerfile image): v1 (its v1 is not in the store)",
      "envs/suite: v3 (the store's latest, v2, isn't in the ledger)",
    ]);
    expect(changes(await plan({ folder: other.path, store }))).toContain(
      `artifacts/check: v2 (last written by the bundle ${root}; files changed: check.ts)`,
    );
  });
});
