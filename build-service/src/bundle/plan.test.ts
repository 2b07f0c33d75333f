import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plannedLines } from "../../../test/fixtures/bundle-problems.ts";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, lines, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import { singleStore } from "../store/sides.ts";
import type { Store } from "../store/store.ts";
import { putNextVersion } from "../store/versions.ts";
import { BUILT_IN } from "../types/registry.ts";
import { materialize } from "./materialize.ts";
import { planBundle } from "./plan.ts";
import { plannedEnv } from "./planned-env.ts";

const ALL = { tasks: ["all", "items"], evals: ["everything"] };

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

test("B1.3, B2.1, B2.2 the ids and the Dockerfiles of built images", async () => {
  using folder = temporaryFolder({
    ...SUITE,
    "envs/items/env.toml": 'image = { dockerfile = "docker/Dockerfile" }\n',
    "envs/items/docker/Dockerfile": "FROM base\n",
  });
  const { writes, bundle } = await plan({ folder: folder.path, store: memoryStore() });
  const images = writes.flatMap(({ id, entry, source }) =>
    source === undefined ? [] : [[id.replace(bundle.idRoot, "<root>"), entry, source.dockerfile]],
  );
  expect(images).toEqual([
    ["<root>/items__env_image", "envs/items (docker/Dockerfile image)", "docker/Dockerfile"],
    ["<root>/shop__backend_image", "envs/shop (Dockerfile.backend image)", "Dockerfile.backend"],
    ["<root>/shop__frontend_image", "envs/shop (Dockerfile.frontend image)", "Dockerfile.frontend"],
  ]);
  expect(Object.keys(writes[0]?.source?.files ?? {})).toEqual(["Dockerfile", "docker/Dockerfile", "env.toml", "server.ts"]);
});

describe("B8.3 a plan", () => {
  test("says all that will be written, in the order of making", async () => {
    using folder = temporaryFolder(SUITE);
    const planned = await plan({ folder: folder.path, store: memoryStore() });
    expect(lines(planned)).toEqual([
      "envs/items (Dockerfile image): v1 (new)",
      "envs/items: v1 (new)",
      "envs/shop (Dockerfile.backend image): v1 (new)",
      "envs/shop (Dockerfile.frontend image): v1 (new)",
      "envs/shop: v1 (new)",
      "envs/suite: v1 (new)",
      "artifacts/check: v1 (new)",
      "artifacts/seed: v1 (new)",
      "tasks/all.json: v1 (new)",
      "evals/everything.toml: v1 (new)",
    ]);
    expect(planned.leftOut).toEqual(["tasks/items.json"]);
    expect(planned.evals.map(({ name, tasks }) => [name, tasks])).toEqual([["everything", [planned.tasks[0]?.id]]]);
    expect(planned.filenameOf(`${planned.bundle.idRoot}/check`)).toBe("check.ts");
    expect(planned.versionOf("env", `${planned.bundle.idRoot}/suite`)).toBe(1);
    expect(() => planned.versionOf("env", "nobody")).toThrow("the plan neither writes nor references env nobody");
  });

  test("writes nothing and takes no lock", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const lock = () => Promise.reject(new Error("a plan took a lock"));
    await plan({ folder: folder.path, store: singleStore({ ...store.local, lock }, store.close) });
    expect(store.writes).toEqual([]);
  });

  test("predicts what is then made, and shows everything unchanged afterwards", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const planned = await plan({ folder: folder.path, store, selection: ALL });
    const { plan: made, events } = await make({ folder: folder.path, store, selection: ALL });
    expect(lines(made)).toEqual(lines(planned));
    expect(events.map((event) => (event.kind === "write" ? `${event.entry}: ${event.message}` : event.kind))).toEqual(lines(made));
    const writes = store.writes.length;
    expect(changes((await make({ folder: folder.path, store, selection: ALL })).plan)).toEqual([]);
    expect(store.writes.length).toBe(writes);
  });
});

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
    await make({ folder: folder.path, store, selection: ALL });
    edit(folder.path);
    const planned = await plan({ folder: folder.path, store, selection: ALL });
    const root = planned.bundle.idRoot;
    expect(changes(planned).map((line) => line.replaceAll(root, "<root>"))).toEqual(expected);
    const { plan: made } = await make({ folder: folder.path, store, selection: ALL });
    expect(lines(made)).toEqual(lines(planned));
    expect(changes(await plan({ folder: folder.path, store, selection: ALL }))).toEqual([]);
  });

  test("going back to old content makes another version, never the old one again", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await make({ folder: folder.path, store, selection: ALL });
    writeTree(folder.path, { "artifacts/check/check.ts": "edited" });
    await make({ folder: folder.path, store, selection: ALL });
    writeTree(folder.path, { "artifacts/check/check.ts": String(SUITE["artifacts/check/check.ts"]) });
    expect(changes((await make({ folder: folder.path, store, selection: ALL })).plan)).toEqual([
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

describe("what a run is about", () => {
  test.each([
    [{ tasks: ["items"], evals: [] }, ["envs/items", "tasks/items.json"]],
    [
      { tasks: [], evals: ["everything"] },
      ["envs/items", "envs/shop", "envs/suite", "artifacts/check", "artifacts/seed", "tasks/all.json", "evals/everything.toml"],
    ],
  ])("%j reaches only what it needs", async (selection, entries) => {
    using folder = temporaryFolder({ ...SUITE, "envs/broken/env.toml": "x = 1\n" });
    const planned = await plan({ folder: folder.path, store: memoryStore(), selection });
    expect(planned.writes.map(({ entry }) => entry).filter((entry) => !entry.includes("image)"))).toEqual(entries);
  });

  test("a name that isn't there is refused, with the near one", async () => {
    expect(await plannedLines(SUITE, null, { tasks: ["Items", "none"], evals: ["all"] })).toEqual([
      "no-selection --eval 'all': is not in this bundle: there are \"everything\"",
      "no-selection --task 'Items': is not in this bundle, but \"items\" is: names are case-sensitive",
      'no-selection --task \'none\': is not in this bundle: there are "all" and "items"',
    ]);
  });

  test("a bundle without tasks and evals passes a check, and can't be run", async () => {
    expect(await plannedLines({ "artifacts/a/x": "" }, null)).toEqual([
      "nothing-to-run <bundle>: has no task and no eval to run: add tasks/<name>.json; `agent-env bundle check` checks a bundle without any",
    ]);
  });

  test("an eval of a store task is refused with the command that runs it", async () => {
    const store = memoryStore();
    await putNextVersion(store, "task", { id: "nightly", type: "task", steps: [] }, {});
    expect(await plannedLines({ "evals/e.toml": 'tasks = ["nightly"]\n' }, store)).toEqual([
      "eval-store-task evals/e.toml: tasks[0]: \"nightly\" is a task of the store, and a bundle's evals run the bundle's own: name one of those, or leave it out",
    ]);
  });
});

describe("B2.1 images of a plugin's type", () => {
  test("any key that is declared as an image follows the one rule", async () => {
    const [mcpServer] = BUILT_IN.types;
    if (mcpServer?.kind !== "env" || mcpServer.writes !== "record") throw new Error("the first type is the MCP server's");
    const robot = {
      ...mcpServer,
      type: "robot",
      tomlKeys: { ...mcpServer.tomlKeys, arm_image: "ref" as const },
      tomlRefs: [...mcpServer.tomlRefs, { path: "arm_image", kind: "artifact" as const, types: ["docker_image"] }],
    };
    const gateway = { name: "gateway", types: ["robot"], reservesNames: true, oneCard: false, refusesOptions: [] };
    using folder = temporaryFolder({
      "envs/r/env.toml": 'type = "robot"\nenvironment_name = "r"\n',
      "envs/r/Dockerfile": "",
      "envs/r/Dockerfile.arm": "",
      "tasks/t.json": '[{"id":"deploy","type":"deploy_env","env_id":"r"}]',
    });
    const { plan: planned, problems } = await planBundle({
      folder: folder.path,
      store: null,
      selection: { tasks: [], evals: [] },
      registry: { ...BUILT_IN, types: [...BUILT_IN.types, robot], envProviders: { gateway } },
    });
    expect(problems).toEqual([]);
    const root = planned?.bundle.idRoot ?? "";
    expect(planned?.writes.map(({ entry, id }) => `${entry} ${id.replace(root, "<root>")}`)).toEqual([
      "envs/r (Dockerfile image) <root>/r__env_image",
      "envs/r (Dockerfile.arm image) <root>/r__arm_image",
      "envs/r <root>/r",
      "tasks/t.json <root>/t",
    ]);
  });
});
