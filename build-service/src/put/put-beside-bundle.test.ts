import { describe, expect, test } from "vitest";
import { type FolderTree, temporaryFolder } from "../../../test/fixtures/folder.ts";
import { changes, make, plan } from "../../../test/fixtures/make-bundle.ts";
import { type MemoryStore, memoryStore } from "../../../test/fixtures/memory-store.ts";
import type { StageEvent } from "../report/events.ts";
import { storedRecord } from "../store/stored.ts";
import { BUILT_IN } from "../types/registry.ts";
import { lookupHere } from "./bundle-here.ts";
import { putOf } from "./by-options.ts";
import { openContext } from "./context-folder.ts";
import { checkPut, writePut } from "./put-entity.ts";

const MAIL: FolderTree = { "mail/Dockerfile": "FROM base\n" };
const SUITE: FolderTree = {
  ...MAIL,
  "envs/items/Dockerfile": "FROM base\n",
  "envs/items/env.toml": 'environment_name = "items"\n',
  "envs/suite/env.toml": 'type = "multi"\nmcp_server_envs = ["items", "mail"]\n',
  "envs/fixed/env.toml": 'type = "multi"\nmcp_server_envs = [{ env = "mail", version = 1 }]\n',
  "tasks/all.json": JSON.stringify(["suite", "fixed"].map((env_id) => ({ id: env_id, type: "deploy_env", env_id }))),
};

/** Puts the folder `mail` as an MCP server. */
async function putMail(store: MemoryStore, folder: string, id = "mail", emit: (event: StageEvent) => void = () => {}) {
  const options = { dockerfile: "--dockerfile", context: "--context" };
  const contexts = new Map([["image", openContext({ dockerfile: "mail/Dockerfile", context: undefined }, folder, options)]]);
  const config = { environment_name: "mail" };
  const put = putOf({ kind: "env", type: "mcp_server", id, config, contexts, platform: null, metadata: {} }, BUILT_IN, lookupHere([]));
  const context = { store, registry: BUILT_IN, emit, signal: new AbortController().signal, owner: "put-test (pid 1)" };
  return writePut(await checkPut(put, context), context);
}

describe("a put beside a bundle", () => {
  test("B13.6 B9 of an env that a multi names without a version rewrites that, and nothing else", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await putMail(store, folder.path);
    await make({ folder: folder.path, store });
    await putMail(store, folder.path);
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([
      "envs/suite: v2 (env mail has a new version in the store (v1 → v2))",
    ]);
  });

  test("B9 while a run is under way changes nothing of that run", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await putMail(store, folder.path);
    const planned = await plan({ folder: folder.path, store });
    await putMail(store, folder.path);
    expect(planned.versionOf("env", "mail")).toBe(1);
  });

  test("B8.1 under an id that the bundle writes is seen, and written over with that reason", async () => {
    using folder = temporaryFolder(SUITE);
    const store = memoryStore();
    await putMail(store, folder.path);
    const { plan: made } = await make({ folder: folder.path, store });
    await putMail(store, folder.path, `${made.bundle.idRoot}/items`);
    const image = `artifact ${made.bundle.idRoot}/items__env_image`;
    const env = `env ${made.bundle.idRoot}/items`;
    expect(changes(await plan({ folder: folder.path, store }))).toEqual([
      "envs/items (Dockerfile image): v3 (the store's latest, v2, isn't in the ledger)",
      `envs/items: v3 (the store's latest, v2, isn't in the ledger; ${image} is written anew (v1 → v3))`,
      `envs/suite: v2 (${env} is written anew (v1 → v3))`,
    ]);
  });

  test("B8.5 waits for who writes the same id, and says for what", async () => {
    using folder = temporaryFolder(MAIL);
    const store = memoryStore();
    const held = await store.of("mail").lock("write/env mail", "run-a (pid 7)", () => {}, new AbortController().signal);
    const said: string[] = [];
    const waits = Promise.withResolvers<void>();
    const put = putMail(store, folder.path, "mail", (event) => {
      if (!("message" in event)) return;
      said.push(`${event.kind} ${event.message}`);
      if (event.kind === "wait") waits.resolve();
    });
    await waits.promise;
    expect(store.keys().filter((key) => key.startsWith("records/"))).toEqual([]);
    await held.release();
    await put;
    expect(said).toEqual(["wait waits for run-a (pid 7), which writes mail", "write v1", "write v1"]);
  });

  test("of one id at once makes two versions, one after the other", async () => {
    using folder = temporaryFolder(MAIL);
    const store = memoryStore();
    await Promise.all([putMail(store, folder.path), putMail(store, folder.path)]);
    const records = [1, 2].map((version) => storedRecord(store, { kind: "env", ids: ["mail"], version }));
    expect((await Promise.all(records)).map((record) => record["docker_image_artifact"])).toEqual(
      [1, 2].map((version) => ({ id: "mail__env_image", version, type: "docker_image" })),
    );
  });
});
