import type { AnyRecord, Kind } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import type { Store } from "../store/store.ts";
import { putNextVersion } from "../store/versions.ts";
import { BUILT_IN } from "../types/registry.ts";
import { loadDeployableEnv } from "./env.ts";

function put(store: Store, kind: Kind, record: Omit<AnyRecord, "version">): Promise<AnyRecord> {
  return putNextVersion(store, kind, record, {});
}

async function image(store: Store, id: string): Promise<{ id: string; version: number; type: string }> {
  const source = { platform: null, source_digest: "0".repeat(64), build_context_object_url: "r2:blobs/sha256/0" };
  const { version } = await put(store, "artifact", {
    id,
    type: "docker_image",
    image_name: `${id}:1`,
    dockerfile_path: "Dockerfile",
    ...source,
  });
  return { id, version, type: "docker_image" };
}

async function items(store: Store, changes: object = {}): Promise<AnyRecord> {
  const docker_image_artifact = await image(store, "items__env_image");
  return put(store, "env", { id: "items", type: "mcp_server", environment_name: "items", docker_image_artifact, ...changes });
}

describe("a stored env", () => {
  test("is read at its latest version, or at the one that is asked for, with the images that its record names", async () => {
    const store = memoryStore();
    await items(store);
    await items(store, { env_provider_type: "server" });
    expect(await loadDeployableEnv(store, BUILT_IN, { id: "items", version: 1 })).toMatchObject({
      id: "items",
      version: 1,
      type: "mcp_server",
      provider: "gateway",
      name: null,
      servers: [{ kind: "mcp", name: "items", image: { key: "image", record: { id: "items__env_image", version: 1 } } }],
    });
    expect(await loadDeployableEnv(store, BUILT_IN, { id: "items", version: null })).toMatchObject({
      version: 2,
      provider: "server",
      servers: [{ image: { record: { version: 2 } } }],
    });
  });

  test("of type multi is its children at the versions that it names", async () => {
    const store = memoryStore();
    await items(store);
    await items(store);
    await put(store, "env", {
      id: "shop",
      type: "website",
      service_name: "shop",
      backend_docker_image_artifact: await image(store, "shop__backend_image"),
      frontend_docker_image_artifact: await image(store, "shop__frontend_image"),
    });
    await put(store, "env", {
      id: "suite",
      type: "multi",
      name: "my-suite",
      mcp_server_envs: [{ id: "items", version: 1, type: "mcp_server" }],
      website_envs: [{ id: "shop", version: 1, type: "website" }],
    });
    expect(await loadDeployableEnv(store, BUILT_IN, { id: "suite", version: null })).toMatchObject({
      type: "multi",
      name: "my-suite",
      servers: [
        { kind: "mcp", name: "items", image: { record: { version: 1 } } },
        { kind: "website", name: "shop", backend: { key: "backend_image" }, frontend: { key: "frontend_image" } },
      ],
    });
  });

  const refusals: [string, (store: Store) => Promise<unknown>, { message: string; why: string; next: string }][] = [
    [
      "that isn't there",
      (store) => loadDeployableEnv(store, BUILT_IN, { id: "items", version: null }),
      {
        message: "items: no such env in the store",
        why: "nothing has written it",
        next: "run the bundle that holds it: `agent-env run <bundle>`",
      },
    ],
    [
      "in a version that isn't there",
      async (store) => {
        await items(store);
        return loadDeployableEnv(store, BUILT_IN, { id: "items", version: 7 });
      },
      {
        message: "items v7: no such env in the store",
        why: "nothing has written that version",
        next: "run the bundle that holds it: `agent-env run <bundle>`",
      },
    ],
    [
      "that is infrastructure",
      async (store) => {
        await put(store, "env", { id: "default", type: "gateway_server", docker_image_artifact: await image(store, "default__env_image") });
        return loadDeployableEnv(store, BUILT_IN, { id: "default", version: null });
      },
      {
        message: "default: an env of type gateway_server is not deployed by itself",
        why: "mcp_server, multi, website are",
        next: "name one of those; `agent-env env list --all` shows what was deployed",
      },
    ],
    [
      "on a provider that isn't installed",
      async (store) => {
        await items(store, { env_provider_type: "elsewhere" });
        return loadDeployableEnv(store, BUILT_IN, { id: "items", version: null });
      },
      {
        message: 'items: env_provider_type "elsewhere" is no provider that is installed',
        why: "installed are gateway, server",
        next: "set another one in its env.toml, and run its bundle: `agent-env run <bundle>`",
      },
    ],
  ];
  test.each(refusals)("%s is refused", async (_name, load, refusal) => {
    await expect(load(memoryStore())).rejects.toMatchObject({ name: "UserError", ...refusal });
  });
});
