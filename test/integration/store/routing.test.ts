import { describe, expect, test } from "vitest";
import { pairOfSides } from "../../../build-service/src/store/sides.ts";
import { latestVersion, putNextVersion } from "../../../build-service/src/store/versions.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { lines, make, plan } from "../../fixtures/make-bundle.ts";
import { memoryStore } from "../../fixtures/memory-store.ts";

const IMAGE = {
  type: "docker_image",
  image_name: "mail",
  dockerfile_path: "Dockerfile",
  platform: null,
  source_digest: "0".repeat(64),
  build_context_object_url: "r2:blobs/sha256/00",
};

/** A bundle of a multi over a server of its own and the configured store's `mail`. */
const BUNDLE = {
  "envs/items/Dockerfile": "FROM base\n",
  "envs/items/env.toml": 'environment_name = "items"\n',
  "envs/suite/env.toml": 'type = "multi"\nmcp_server_envs = ["items", "mail"]\n',
  "artifacts/seed/seed.json": "[]\n",
  "tasks/all.json": JSON.stringify([
    { id: "deploy", type: "deploy_env", env_id: "suite" },
    { id: "check", type: "env_outcome_verifier", env_id: "suite", file_artifact_id: "check" },
  ]),
  "artifacts/check/check.ts": "export const verify = () => [];\n",
};

describe("B9 with bare ids in a store of their own", () => {
  test("a bundle reads its references there, and writes records, blobs, ledger and locks locally only", async () => {
    using folder = temporaryFolder(BUNDLE);
    const local = memoryStore();
    const shared = memoryStore();
    const store = pairOfSides(local, shared);
    const image = await putNextVersion(store, "artifact", { id: "mail__env_image", ...IMAGE }, {});
    const fields = { environment_name: "mail", docker_image_artifact: { id: image.id, version: 1, type: image.type } };
    for (let n = 0; n < 2; n++) await putNextVersion(store, "env", { id: "mail", type: "mcp_server", ...fields }, {});
    const before = shared.keys();
    expect(before).toEqual(expect.arrayContaining(["records/env/mail/2.json", "records/artifact/mail__env_image/1.json"]));
    expect(local.keys()).toEqual([]);

    const { plan: made } = await make({ folder: folder.path, store });
    expect(shared.keys()).toEqual(before);
    const kinds = new Set(local.keys().map((key) => key.split("/")[0]));
    expect([...kinds].sort()).toEqual(["blobs", "ledger", "records"]);
    const suite = local.keys().find((key) => /^records\/env\/local\/.*suite-[0-9a-f]{12}\/1\.json$/.test(key)) ?? "";
    expect(local.json(suite)).toMatchObject({ mcp_server_envs: [{ version: 1 }, { id: "mail", version: 2, type: "mcp_server" }] });

    const unchanged = await plan({ folder: folder.path, store });
    expect(lines(unchanged).filter((line) => !line.endsWith(", unchanged"))).toEqual([]);
    await putNextVersion(store, "env", { id: "mail", type: "mcp_server", ...fields }, {});
    const again = lines(await plan({ folder: folder.path, store }));
    expect(again).toContain("envs/suite: v2 (env mail has a new version in the store (v2 → v3))");
    expect(lines(made)).toHaveLength(again.length);
  });

  test("a bare id and a local one that is spelled like it in keys are two", async () => {
    const local = memoryStore();
    const store = pairOfSides(local, memoryStore());
    await putNextVersion(store, "env", { id: "@local/~/demo/items", type: "mcp_server" }, {});
    expect(local.keys()).toContain("records/env/local/demo-items-e5738fac718b/1.json");
    expect(await latestVersion(store, "env", "local/demo-items-e5738fac718b")).toBe(0);
  });
});
