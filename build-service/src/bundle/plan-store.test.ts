import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plannedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import type { Store } from "../store/store.ts";
import { putNextVersion } from "../store/versions.ts";
import { materialize } from "./materialize.ts";
import { planBundle } from "./plan.ts";
import { plannedEnv } from "./planned-env.ts";

/** A stored MCP server over a stored image, as the put commands leave them. */
async function putMail(store: Store, name = "mail"): Promise<void> {
  const image = await putNextVersion(
    store,
    "artifact",
    {
      id: "mail-image",
      type: "docker_image",
      image_name: "local/mail-image:1",
      dockerfile_path: "Dockerfile",
      platform: null,
      source_digest: "1".repeat(64),
      build_context_object_url: "r2:blobs/sha256/none",
      build_context_s3_url: "r2:blobs/sha256/none",
      tar_gz_object_url: null,
    },
    {},
  );
  const ref = { id: image.id, version: image.version, type: image.type };
  const env = { environment_name: name, service_name: name, env_provider_type: "gateway", docker_image_artifact: ref };
  await putNextVersion(store, "env", { id: "mail", type: "mcp_server", metadata: {}, ...env }, {});
}

const withMail = (toml: string): FolderTree => ({
  "envs/both/env.toml": `type = "multi"\n${toml}`,
  "envs/own/Dockerfile": "",
  "envs/own/env.toml": 'environment_name = "own"\n',
  "tasks/t.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "both" }]),
});

describe("B2.3 an image key that names an image of the store", () => {
  test.each([
    ['image = "mail-image"', 2],
    ['image = { artifact = "mail-image", version = 1 }', 1],
  ])("%s is version %i of it, and nothing is built", async (image, version) => {
    using folder = temporaryFolder({
      "envs/own/env.toml": `environment_name = "own"\n${image}\n`,
      "tasks/t.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "own" }]),
    });
    const store = memoryStore();
    await putMail(store);
    await putMail(store);
    const made = await make({ folder: folder.path, store });
    expect(made.plan.writes.map(({ entry }) => entry)).toEqual(["envs/own", "tasks/t.json"]);
    const key = store.keys().find((candidate) => candidate.startsWith("records/env/local/") && candidate.endsWith("/1.json"));
    expect(store.json(key ?? "")).toMatchObject({ docker_image_artifact: { id: "mail-image", version, type: "docker_image" } });
  });
});

describe("B9 a store reference without a version", () => {
  test("is pinned at the version that the plan read, even if a newer one lands meanwhile", async () => {
    using folder = temporaryFolder(withMail('mcp_server_envs = ["own", "mail"]\n'));
    const store = memoryStore();
    await putMail(store);
    const planned = await plan({ folder: folder.path, store });
    expect(planned.storeRefs).toEqual([{ kind: "env", id: "mail", version: 1, pinned: false }]);
    await putMail(store);
    expect((await plannedEnv(planned, store, `${planned.bundle.idRoot}/both`)).servers.map(({ name }) => name)).toEqual(["own", "mail"]);
    const made = await materialize(planned, {
      store,
      emit: () => {},
      builder: null,
      buildsAtOnce: 2,
      runId: "run",
      signal: new AbortController().signal,
    });
    expect(made.versionOf("env", "mail")).toBe(1);
    const key = store
      .keys()
      .find((candidate) => candidate.startsWith("records/env/local/") && candidate.includes("-both-") && candidate.endsWith("/1.json"));
    expect(store.json(key ?? "")).toMatchObject({ mcp_server_envs: [{ version: 1 }, { id: "mail", version: 1 }] });
  });

  test("to an image is pinned as well, and the next plan has the newer one", async () => {
    using folder = temporaryFolder({
      "envs/own/env.toml": 'environment_name = "own"\nimage = "mail-image"\n',
      "tasks/t.json": JSON.stringify([{ id: "deploy", type: "deploy_env", env_id: "own" }]),
    });
    const store = memoryStore();
    await putMail(store);
    const planned = await plan({ folder: folder.path, store });
    await putMail(store, "letters");
    const signal = new AbortController().signal;
    await materialize(planned, { store, emit: () => {}, builder: null, buildsAtOnce: 2, runId: "run", signal });
    const key = store.keys().find((candidate) => candidate.startsWith("records/env/local/") && candidate.endsWith("/1.json"));
    expect(store.json(key ?? "")).toMatchObject({ docker_image_artifact: { id: "mail-image", version: 1 } });
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([
      "envs/own: v2 (artifact mail-image has a new version in the store (v1 → v2))",
    ]);
  });

  test("B8.2 at a newer version rewrites what names it, and nothing else", async () => {
    using folder = temporaryFolder(withMail('mcp_server_envs = ["own", "mail"]\n'));
    const store = memoryStore();
    await putMail(store);
    await make({ folder: folder.path, store });
    await putMail(store);
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([
      "envs/both: v2 (env mail has a new version in the store (v1 → v2))",
    ]);
  });

  test("with a version stays at it", async () => {
    using folder = temporaryFolder(withMail('mcp_server_envs = ["own", { env = "mail", version = 1 }]\n'));
    const store = memoryStore();
    await putMail(store);
    await make({ folder: folder.path, store });
    await putMail(store);
    const planned = await plan({ folder: folder.path, store });
    expect(changes(planned)).toEqual([]);
    expect(planned.storeRefs).toEqual([{ kind: "env", id: "mail", version: 1, pinned: true }]);
  });
});

describe("B5 refusals by the store", () => {
  const cases: [string, string, string[]][] = [
    [
      "not there",
      'mcp_server_envs = ["letters", { env = "mail", version = 9 }]\n',
      [
        'not-stored envs/both: mcp_server_envs[0]: there is no env "letters" in this bundle or in the store',
        'not-stored envs/both: mcp_server_envs[1]: there is no env "mail" v9 in the store: its latest is v1',
      ],
    ],
    [
      "of another type",
      'website_envs = ["mail"]\n',
      ['stored-kind envs/both: website_envs[0]: "mail" is of type mcp_server in the store, and the field takes an env of type website'],
    ],
    [
      "naming a container of the bundle's own",
      'mcp_server_envs = ["own", "mail"]\n',
      [
        'container-twice envs/both: mcp_server_envs[1]: "own" would be the container "own", as "own" of mcp_server_envs[0] is: give one of them another name',
      ],
    ],
  ];
  test.each(cases)("%s", async (_name, toml, expected) => {
    const store = memoryStore();
    await putMail(store, "own");
    expect(await plannedLines(withMail(toml), store)).toEqual(expected);
    expect(await plannedLines(withMail('mcp_server_envs = ["mail"]\n'), null)).toEqual([
      'not-stored envs/both: mcp_server_envs[0]: there is no env "mail" in this bundle or in the store',
    ]);
  });

  test("a record that can't be read", async () => {
    const store = memoryStore();
    await putMail(store);
    await store.objects.put("records/env/mail/1.json", "{");
    expect((await plannedLines(withMail('mcp_server_envs = ["mail"]\n'), store)).join("\n")).toMatch(
      /^store-unreadable envs\/both: mcp_server_envs\[0\]: "mail" is stored, but it can't be read: /,
    );
  });

  test("a folder whose id is another type of env; what is refused changes nothing", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await make({ folder: folder.path, store });
    rmSync(join(folder.path, "envs/items"), { recursive: true });
    writeTree(folder.path, {
      "envs/items/env.toml": 'type = "website"\nenvironment_name = "items"\n',
      "envs/items/Dockerfile.backend": "",
      "envs/items/Dockerfile.frontend": "",
    });
    const writes = store.writes.length;
    const { plan: none, problems } = await planBundle({ folder: folder.path, store, selection: { tasks: ["items"], evals: [] } });
    expect(none).toBeNull();
    expect(problems).toMatchObject([{ code: "type-changed", path: "envs/items" }]);
    expect(store.writes.length).toBe(writes);
  });
});
