import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AnyRecord, DockerImageRecord, objectKey } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder, writeTree } from "../../../test/fixtures/folder.ts";
import { changes, lines, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { type MemoryStore, memoryStore } from "../../../test/fixtures/memory-store.ts";
import { recordingBuilder } from "../../../test/fixtures/recording-builder.ts";
import { SUITE } from "../../../test/fixtures/suite-bundle.ts";
import { readJson } from "../store/json.ts";
import { encodedId } from "./ids.ts";
import { materialize } from "./materialize.ts";

/** One of each kind of write. */
const SMALL: FolderTree = {
  ...Object.fromEntries(Object.entries(SUITE).filter(([path]) => !path.includes("shop"))),
  "envs/suite/env.toml": 'type = "multi"\nmcp_server_envs = ["items"]\n',
};

const EDITED = 'environmentCard({ name: "items" }); // edited\n';

/** The latest versions of all ids, by the keys of their records. */
function versions(store: MemoryStore): string[] {
  return store.keys().filter((key) => key.startsWith("records/") && !key.endsWith("latest.json"));
}

/** Makes a bundle in a process that dies ahead of its write number `at`; true once there are no more writes to die at. */
async function dies(folder: string, store: MemoryStore, at: number): Promise<boolean> {
  const death = new Error("killed");
  let count = 0;
  store.onWrite(() => {
    if (count++ >= at) throw death;
  });
  try {
    await make({ folder, store });
    return false;
  } catch (error) {
    if (error !== death) throw error;
    return true;
  } finally {
    store.onWrite(() => {});
  }
}

describe("B8.4 a run killed at any of its writes", () => {
  test("leaves a store that the next run finishes, as if nothing had happened", { timeout: 120_000 }, async () => {
    using folder = temporaryFolder(SMALL);
    const whole = memoryStore();
    await make({ folder: folder.path, store: whole });
    for (let at = 0; ; at++) {
      const store = memoryStore();
      if (!(await dies(folder.path, store, at))) {
        expect(at).toBeGreaterThan(40);
        break;
      }
      const predicted = lines(await plan({ folder: folder.path, store }));
      const { plan: made } = await make({ folder: folder.path, store });
      expect(lines(made)).toEqual(predicted);
      expect(made.writes.map(({ version }) => version)).toEqual(made.writes.map(() => 1));
      expect(store.keys()).toEqual(whole.keys());
      expect(changes(await plan({ folder: folder.path, store }))).toEqual([]);
    }
  });

  test("while it wrote an edit makes one version of it", { timeout: 120_000 }, async () => {
    for (let at = 0; ; at++) {
      using folder = temporaryFolder(SMALL);
      const store = memoryStore();
      await make({ folder: folder.path, store });
      writeTree(folder.path, { "envs/items/server.ts": EDITED, "artifacts/seed/items/items.json": "[2]\n" });
      if (!(await dies(folder.path, store, at))) break;
      await make({ folder: folder.path, store });
      expect(versions(store).filter((key) => !key.endsWith("/1.json")).length).toBe(6);
      expect(versions(store).filter((key) => key.endsWith("/3.json"))).toEqual([]);
      expect(store.keys().filter((key) => key.includes("/attempts/"))).toEqual([]);
    }
  });

  test("says that it adopted what was already written", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    store.onWrite((key) => {
      if (key.startsWith("ledger/env/") && key.includes("-suite-") && key.includes("/done/")) throw new Error("killed");
    });
    await expect(make({ folder: folder.path, store })).rejects.toThrow("killed");
    store.onWrite(() => {});
    const { plan: made } = await make({ folder: folder.path, store });
    expect(lines(made).slice(4, 7)).toEqual([
      "envs/shop: v1, unchanged",
      "envs/suite: v1 (unchanged, adopted from an interrupted run)",
      "artifacts/check: v1 (new)",
    ]);
  });

  test("compares what it had written with what the folder holds by now", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    store.onWrite((key) => {
      if (key.includes("-items-env-image-") && key.includes("/done/")) throw new Error("killed");
    });
    await expect(make({ folder: folder.path, store })).rejects.toThrow("killed");
    store.onWrite(() => {});
    writeTree(folder.path, { "envs/items/server.ts": EDITED });
    const { plan: made } = await make({ folder: folder.path, store });
    expect(lines(made).slice(0, 2)).toEqual(["envs/items (Dockerfile image): v2 (files changed: server.ts)", "envs/items: v1 (new)"]);
  });
});

describe("B8.5 two runs at once", () => {
  test("don't interleave: the second waits, says for what, and finds all of it written", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const [first, second] = await Promise.all([make({ folder: folder.path, store }), make({ folder: folder.path, store })]);
    expect(changes(first.plan)).toHaveLength(10);
    expect(changes(second.plan)).toEqual([]);
    expect(versions(store).every((key) => key.endsWith("/1.json"))).toBe(true);
    expect(second.events.filter(({ kind }) => kind === "wait")).toEqual([
      {
        kind: "wait",
        entry: "artifacts/check",
        message: expect.stringMatching(/^waits for run-test \(pid \d+, since [\d-]+T[\d:.]+Z\), which writes @local\/.*\/check$/),
      },
    ]);
  });

  test("what waits ends when it is told to", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const planned = await plan({ folder: folder.path, store });
    const key = `write/artifact ${planned.bundle.idRoot}/seed`;
    const held = await store.lock(key, "another", () => {}, new AbortController().signal);
    const stop = new AbortController();
    const made = materialize(planned, {
      store,
      emit: ({ kind }) => kind === "wait" && stop.abort(new Error("stopped")),
      builder: null,
      buildsAtOnce: 2,
      runId: "r",
      signal: stop.signal,
    });
    await expect(made).rejects.toThrow("stopped");
    expect(store.writes).toEqual([]);
    await held.release();
    await make({ folder: folder.path, store });
  });
});

test("an image whose build context the store lost gets another one when a file of it changes, as the message says", async () => {
  using folder = temporaryFolder(SMALL);
  const store = memoryStore();
  await make({ folder: folder.path, store });
  const contexts = async () =>
    Promise.all(
      versions(store)
        .filter((key) => key.includes("image"))
        .map(async (key) => {
          const record = DockerImageRecord.parse(await readJson(store, key, AnyRecord));
          const context = objectKey(record.build_context_object_url);
          return { version: record.version, context, held: (await store.objects.head(context)) !== null };
        }),
    );
  const [first] = await contexts();
  await store.objects.remove(first?.context ?? "");
  writeTree(folder.path, { "envs/items/server.ts": EDITED });
  await make({ folder: folder.path, store });
  expect((await contexts()).map(({ version, held }) => ({ version, held }))).toEqual([
    { version: 1, held: false },
    { version: 2, held: true },
  ]);
});

describe("images that a selected deploy runs", () => {
  test("are built before their records, side by side but not more than two, others aren't", async () => {
    using folder = temporaryFolder({ ...SUITE, "artifacts/extra/Dockerfile": "FROM base\n" });
    const store = memoryStore();
    const builder = recordingBuilder();
    builder.onBuild = async ({ imageId }) => {
      expect(versions(store).filter((key) => key.includes(encodedId(imageId)))).toEqual([]);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await make({ folder: folder.path, store, builder });
    expect(builder.built).toEqual([
      "envs/items (Dockerfile image)",
      "envs/shop (Dockerfile.backend image)",
      "envs/shop (Dockerfile.frontend image)",
    ]);
    expect(builder.most()).toBe(2);
    await make({ folder: folder.path, store, builder });
    expect(builder.built).toHaveLength(3);
  });

  test("write no record when a build fails; what was written before stays", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const builder = recordingBuilder();
    builder.onBuild = async ({ entry }) => {
      if (entry.includes("frontend")) throw new Error("the build broke");
    };
    await expect(make({ folder: folder.path, store, builder })).rejects.toThrow("the build broke");
    expect(versions(store).filter((key) => key.includes("frontend"))).toEqual([]);
    builder.onBuild = async () => {};
    const { plan: made } = await make({ folder: folder.path, store, builder });
    expect(made.writes.every(({ version }) => version === 1)).toBe(true);
    expect(builder.built.filter((entry) => entry.includes("frontend"))).toHaveLength(2);
  });

  test("B8.1 are written anew when the Engine holds another base image", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const builder = recordingBuilder();
    const request = { folder: folder.path, store, builder, selection: { tasks: ["items"], evals: [] } };
    await make(request);
    builder.bases.set("base", "sha256:2");
    const predicted = changes(await plan(request));
    expect(predicted[0]).toBe("envs/items (Dockerfile image): v2 (base image changed: base)");
    expect(changes((await make(request)).plan)).toEqual(predicted);
    builder.bases.delete("base");
    expect(changes(await plan(request))).toEqual([]);
  });

  test("are judged by the build of the highest number, whatever its clock said and whatever another platform's is", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const builder = recordingBuilder();
    const request = { folder: folder.path, store, builder, selection: { tasks: ["items"], evals: [] } };
    await make(request);
    const [first] = await store.objects.list("builds/");
    const key = first?.key ?? "";
    const row = JSON.parse(new TextDecoder().decode((await store.objects.get(key))?.bytes));
    await store.objects.create(
      key.replace(/1\.json$/, "2.json"),
      JSON.stringify({ ...row, bases: { base: "sha256:2" }, built_at: "2001-01-01T00:00:00Z" }),
    );
    await store.objects.create(
      key.replace(/[^/]+\/1\.json$/, "linux-other/1.json"),
      JSON.stringify({ ...row, built_at: "2999-01-01T00:00:00Z" }),
    );
    builder.bases.set("base", "sha256:2");
    expect(changes(await plan(request))).toEqual([]);
  });
});

describe("files that change while they are written", () => {
  test("are not vouched for: the next run writes anew", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    store.onWrite((key) => {
      if (key.startsWith("records/artifact/") && key.includes("-check-"))
        writeFileSync(join(folder.path, "artifacts/check/check.ts"), "edited");
    });
    await make({ folder: folder.path, store });
    store.onWrite(() => {});
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([
      "artifacts/check: v2 (its files changed while it was written; files changed: check.ts)",
    ]);
    await make({ folder: folder.path, store });
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([]);
  });

  test("are not vouched for either when their folder has gone", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    store.onWrite((key) => {
      if (key.startsWith("records/artifact/") && key.includes("-check-"))
        rmSync(join(folder.path, "artifacts/check"), { recursive: true, force: true });
    });
    await make({ folder: folder.path, store });
    store.onWrite(() => {});
    writeTree(folder.path, { "artifacts/check/check.ts": String(SUITE["artifacts/check/check.ts"]) });
    expect(changes(await plan({ folder: folder.path, store }))).toEqual(["artifacts/check: v2 (its files changed while it was written)"]);
  });

  test("and that are gone before they are written end the run, with what to do", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    store.onWrite((key) => {
      if (key.includes("/attempts/") && key.includes("-check-")) rmSync(join(folder.path, "artifacts/check"), { recursive: true });
    });
    await expect(make({ folder: folder.path, store })).rejects.toMatchObject({
      message: "artifacts/check/check.ts: changed after the run had read it",
      why: "it can't be read any more: it isn't there",
      next: "run the command again",
    });
  });

  test("after they were planned end the run, with what to do", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    const planned = await plan({ folder: folder.path, store });
    writeTree(folder.path, { "envs/items/server.ts": EDITED });
    const made = materialize(planned, {
      store,
      emit: () => {},
      builder: null,
      buildsAtOnce: 2,
      runId: "r",
      signal: new AbortController().signal,
    });
    await expect(made).rejects.toMatchObject({
      message: "envs/items/server.ts: changed after the run had read it",
      next: "run the command again",
    });
    expect(versions(store)).toEqual([]);
    expect(lines((await make({ folder: folder.path, store })).plan)[0]).toBe("envs/items (Dockerfile image): v1 (new)");
  });
});

test("B8.4 an image's version that something removes meanwhile ends the run, with what to do", async () => {
  using folder = temporaryFolder(SUITE);
  const store = memoryStore();
  await make({ folder: folder.path, store });
  writeTree(folder.path, { "envs/items/server.ts": EDITED });
  const planned = await plan({ folder: folder.path, store });
  const id = `${planned.bundle.idRoot}/shop__backend_image`;
  store.onWrite((key) => {
    if (key.includes("/attempts/") && key.includes("-items-env-image-"))
      void store.objects.remove(`records/artifact/${encodedId(id)}/1.json`);
  });
  const made = materialize(planned, {
    store,
    emit: () => {},
    builder: null,
    buildsAtOnce: 1,
    runId: "r",
    signal: new AbortController().signal,
  });
  await expect(made).rejects.toMatchObject({
    message: `envs/shop (Dockerfile.backend image): v1 of ${id} is gone from the store`,
    why: "it was there when it was decided about, so something else has removed it meanwhile",
    next: "run the bundle again, which plans anew",
  });
});

test("B8.4 a version that something else takes meanwhile ends the run, with what to do", async () => {
  using folder = temporaryFolder(SUITE);
  const store = memoryStore();
  const { bundle } = await plan({ folder: folder.path, store });
  const id = `${bundle.idRoot}/check`;
  const key = `records/artifact/${encodedId(id)}/1.json`;
  let isTaken = false;
  store.onWrite((written) => {
    if (isTaken || !written.includes("/attempts/") || !written.includes("-check-")) return;
    isTaken = true;
    void store.objects.create(key, JSON.stringify({ id, type: "file", version: 1 }));
  });
  await expect(make({ folder: folder.path, store })).rejects.toMatchObject({
    message: `artifacts/check: v1 of ${id} was written by something else meanwhile`,
    why: "this run holds the id's lock, so what wrote it is no run of a bundle",
    next: "run the bundle again, which plans anew",
  });
  store.onWrite(() => {});
  expect(changes((await make({ folder: folder.path, store })).plan)[0]).toBe(
    "artifacts/check: v2 (the store's latest, v1, isn't in the ledger)",
  );
});

test("B1.2, B4 the records of envs hold what their authors wrote, and nothing else", async () => {
  using folder = temporaryFolder(SUITE);
  const store = memoryStore();
  const { plan: made } = await make({ folder: folder.path, store });
  const envs = versions(store).filter((key) => key.startsWith("records/env/"));
  const records: unknown = JSON.parse(JSON.stringify(envs.map((key) => store.json(key))).replaceAll(made.bundle.idRoot, "@local/~/demo"));
  expect(records).toEqual([
    {
      id: "@local/~/demo/items",
      type: "mcp_server",
      version: 1,
      metadata: {},
      environment_name: "items",
      service_name: "items",
      env_provider_type: "gateway",
      docker_image_artifact: { id: "@local/~/demo/items__env_image", version: 1, type: "docker_image" },
    },
    {
      id: "@local/~/demo/shop",
      type: "website",
      version: 1,
      metadata: {},
      environment_name: "shop",
      service_name: "shop",
      env_provider_type: "gateway",
      backend_docker_image_artifact: { id: "@local/~/demo/shop__backend_image", version: 1, type: "docker_image" },
      frontend_docker_image_artifact: { id: "@local/~/demo/shop__frontend_image", version: 1, type: "docker_image" },
    },
    {
      id: "@local/~/demo/suite",
      type: "multi",
      version: 1,
      metadata: {},
      env_provider_type: "gateway",
      mcp_server_envs: [{ id: "@local/~/demo/items", type: "mcp_server", version: 1 }],
      website_envs: [{ id: "@local/~/demo/shop", type: "website", version: 1 }],
    },
  ]);
});
