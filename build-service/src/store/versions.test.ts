import { latestKey, recordKey } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { type MemoryStore, memoryStore } from "../../../test/fixtures/memory-store.ts";
import { singleStore } from "./sides.ts";
import type { SingleStore, StoreSide } from "./store.ts";
import { createVersion, finishVersion, latestVersion, putNextVersion } from "./versions.ts";

const item = (version: number, id = "team/items") => ({ id, type: "mcp_server", version });
const shown = async (store: SingleStore): Promise<unknown> => JSON.parse((await store.projections.get("env:team/items")) ?? "null");

/** The store, with every call of its objects noted. */
function counted(store: MemoryStore): { readonly store: SingleStore; readonly calls: string[] } {
  const calls: string[] = [];
  const { objects } = store;
  const noted = <T>(call: string, result: Promise<T>): Promise<T> => {
    calls.push(call);
    return result;
  };
  const noting: StoreSide["objects"] = {
    ...objects,
    get: (key) => noted(`get ${key}`, objects.get(key)),
    head: (key) => noted(`head ${key}`, objects.head(key)),
    list: (prefix) => noted(`list ${prefix}`, objects.list(prefix)),
  };
  return { store: singleStore({ ...store.local, objects: noting }, store.close), calls };
}

async function withVersions(count: number, pointer: number | null): Promise<MemoryStore> {
  const store = memoryStore();
  for (let version = 1; version <= count; version++) {
    await store.objects.create(recordKey("env", "team/items", version), JSON.stringify(item(version)));
  }
  if (pointer !== null) await store.objects.put(latestKey("env", "team/items"), JSON.stringify({ version: pointer }));
  return store;
}

describe("B8.4 the latest version", () => {
  test.each([1, 100, 10_000])("is found with the same three reads and no list when there are %i", async (count) => {
    const { store, calls } = counted(await withVersions(count, count));
    expect(await latestVersion(store, "env", "team/items")).toBe(count);
    expect(calls).toEqual([
      "get records/env/team/items/latest.json",
      `head records/env/team/items/${count}.json`,
      `head records/env/team/items/${count + 1}.json`,
    ]);
  });

  test.each([
    ["no pointer", null],
    ["a pointer that lags by one", 9_999],
    ["a pointer far behind", 1],
    ["a pointer to a version that has gone", 10_003],
  ])("is found with few reads and no list with %s", async (_name, pointer) => {
    const { store, calls } = counted(await withVersions(10_000, pointer));
    expect(await latestVersion(store, "env", "team/items")).toBe(10_000);
    expect(calls.length).toBeLessThan(32);
    expect(calls.filter((call) => call.startsWith("list"))).toEqual([]);
  });
});

describe("B8.4 a pointer that something else damaged", () => {
  test.each(["", "{", "\ufffd", '{"version": 0}', '{"version": "3"}', "[]"])(
    "%j stops no reader, and the next write mends it",
    async (text) => {
      const store = await withVersions(3, null);
      await store.objects.put(latestKey("env", "team/items"), text);
      expect(await latestVersion(store, "env", "team/items")).toBe(3);
      await putNextVersion(store, "env", { id: "team/items", type: "mcp_server" }, {});
      expect(store.json("records/env/team/items/latest.json")).toEqual({ version: 4 });
      expect(await shown(store)).toEqual({ revision: 4, record: item(4) });
    },
  );
});

describe("B8.4 what follows a version's record", () => {
  test("is written with it, and may be repeated", async () => {
    const store = memoryStore();
    await createVersion(store, "env", item(1), {});
    for (let time = 0; time < 2; time++) await finishVersion(store, "env", item(1));
    expect(store.json("records/env/team/items/latest.json")).toEqual({ version: 1 });
    expect(await shown(store)).toEqual({ revision: 1, record: item(1) });
  });

  test("a slow writer of an older version moves neither the pointer nor what the edge sees back", async () => {
    const store = memoryStore();
    for (const version of [1, 2]) await createVersion(store, "env", item(version), {});
    await finishVersion(store, "env", item(2));
    await finishVersion(store, "env", item(1));
    expect(store.json("records/env/team/items/latest.json")).toEqual({ version: 2 });
    expect(await shown(store)).toEqual({ revision: 2, record: item(2) });
  });

  test("a writer that is overtaken between its pointer and its projection shows the newer one", async () => {
    const store = memoryStore();
    for (const version of [1, 2]) await createVersion(store, "env", item(version), {});
    let overtaken = false;
    const slow = {
      ...store.local,
      projections: {
        ...store.projections,
        async put(key: string, value: string) {
          if (!overtaken) {
            overtaken = true;
            await finishVersion(store, "env", item(2));
          }
          await store.projections.put(key, value);
        },
      },
    };
    await finishVersion(singleStore(slow, store.close), "env", item(1));
    expect(overtaken).toBe(true);
    expect(await shown(store)).toEqual({ revision: 2, record: item(2) });
  });

  test("a pointer that a version has gone from under shows what is there", async () => {
    const store = memoryStore();
    await store.objects.put("records/env/team/items/latest.json", '{"version":3}');
    await createVersion(store, "env", item(1), {});
    await finishVersion(store, "env", item(1));
    expect(await shown(store)).toEqual({ revision: 1, record: item(1) });
    expect(await latestVersion(store, "env", "team/items")).toBe(1);
  });
});

describe("what no writer may write", () => {
  test.each(["gone", '{"id":"team/other","type":"multi","version":2}'])(
    "N7 an env of another type than it had before its last version was damaged: %s",
    async (damaged) => {
      const store = await withVersions(2, 2);
      await store.objects.put(recordKey("env", "team/items", 2), damaged);
      await expect(createVersion(store, "env", { ...item(3), type: "multi" }, {})).rejects.toThrow(
        "team/items: is an env of type mcp_server in the store, and this is a multi",
      );
      expect(await createVersion(store, "env", item(3), {})).toBe(true);
    },
  );

  test("a version that would leave a gap", async () => {
    await expect(createVersion(memoryStore(), "env", item(2), {})).rejects.toThrow(
      "env team/items: v2 would leave a gap, v1 is not in the store",
    );
  });

  test.each<[string, object, string]>([
    ["in a field", { docker_image_artifact: { id: "@local/~/demo/x__env_image", version: 1 } }, "docker_image_artifact.id"],
    ["in a list", { mcp_server_envs: [{ id: "mail" }, { id: "@local/~/demo/x__env_image" }] }, "mcp_server_envs[1].id"],
    ["in a step", { steps: [{ id: "a", env_id: "@local/~/demo/x__env_image" }] }, "steps[0].env_id"],
    ["in a map", { file_artifact_ids: { "a.txt": "@local/~/demo/x__env_image" } }, "file_artifact_ids.a.txt"],
  ])("a bare id that references a local one %s", async (_name, fields, place) => {
    const store = memoryStore();
    await expect(putNextVersion(store, "env", { id: "team/x", type: "multi", ...fields }, {})).rejects.toMatchObject({
      name: "UserError",
      message: `team/x: ${place}: references "@local/~/demo/x__env_image"`,
      why: "a bare id lies in a store that others may share, and an @local/ id names something of one machine",
      next: "put that one under a bare id too, and reference it by that",
    });
    expect(store.writes).toEqual([]);
  });

  test("a local id may reference any, and a text that only begins like an id is none", async () => {
    const store = memoryStore();
    await putNextVersion(store, "env", { id: "@local/~/a", type: "multi", env: { id: "@local/~/b" }, other: "mail" }, {});
    await putNextVersion(store, "env", { id: "team/a", type: "multi", about: "@local/<your folder>: see there!" }, {});
    expect(store.keys()).toContain("records/env/team/a/1.json");
  });
});
