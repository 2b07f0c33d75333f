import { DeploymentRecord } from "@agent-env/protocol";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { singleStore } from "../store/sides.ts";
import { getDeployment, listDeployments } from "./list.ts";
import { closeRecord, createRecord, readRecord, releaseDeployment, updateRecord } from "./record.ts";

const NOW = new Date("2026-03-01T09:00:00Z");

function record(changes: Partial<DeploymentRecord> = {}): DeploymentRecord {
  return {
    ...DeploymentRecord.parse({ deployment_id: "items-abcd1234", name: "env1234", auth: { mode: "open" }, servers: [] }),
    owner: "run-1",
    instance_id: "@local/demo/items-abcd1234",
    expires_at: "2026-03-01T10:00:00Z",
    ...changes,
  };
}

describe("a deployment's record", () => {
  test("lies in the objects as the truth, and in the projections with its revision", async () => {
    const store = memoryStore();
    await createRecord(store, record());
    expect(store.json("deployments/items-abcd1234.json")).toEqual(record());
    expect(await store.projections.get("deployment:items-abcd1234")).toBe(JSON.stringify({ revision: 0, record: record() }));
  });

  test("is not covered in KV by a slower writer of an older revision", async () => {
    const store = memoryStore();
    await createRecord(store, record());
    let overtaken = false;
    const projections = {
      ...store.projections,
      async put(key: string, value: string) {
        if (!overtaken) {
          overtaken = true;
          await closeRecord(store, "items-abcd1234");
        }
        await store.projections.put(key, value);
      },
    };
    await updateRecord(singleStore({ ...store.local, projections }, store.close), "items-abcd1234", () => ({ status: "up" }));
    expect(overtaken).toBe(true);
    expect(await store.projections.get("deployment:items-abcd1234")).toBeNull();
  });

  test("loses no change of two that are made at once", async () => {
    const store = memoryStore();
    await createRecord(store, record());
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        updateRecord(store, "items-abcd1234", ({ metadata }) => ({ metadata: { ...metadata, [`k${n}`]: n } })),
      ),
    );
    const found = await readRecord(store, "items-abcd1234");
    expect(Object.keys(found?.metadata ?? {}).sort()).toEqual(["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"]);
    expect(found?.revision).toBe(8);
  });

  test("loses its owner at the good end of env deploy", async () => {
    const store = memoryStore();
    await createRecord(store, record());
    expect(await releaseDeployment(store, "items-abcd1234")).toMatchObject({ owner: null, status: "up", revision: 1 });
    expect(await releaseDeployment(store, "items-abcd1234")).toMatchObject({ revision: 1 });
  });

  test("is stopped at the teardown, and then no edge gateway finds it; a second teardown changes nothing", async () => {
    const store = memoryStore();
    await createRecord(store, record());
    expect(await closeRecord(store, "items-abcd1234")).toMatchObject({ status: "stopped", owner: null, revision: 1 });
    expect(await store.projections.get("deployment:items-abcd1234")).toBeNull();
    expect(await closeRecord(store, "items-abcd1234")).toMatchObject({ revision: 1 });
    expect(await closeRecord(store, "none-abcd1234")).toBeNull();
  });
});

describe("N5 a site's host label that was cut", () => {
  const site = (name: string, label: string) => ({ name, kind: "website" as const, url: "http://127.0.0.1:1", label });
  const servers = [
    site("shop", "shop--items-abcd1234"),
    site("my.shop", "myshop--items-abcd1234-0123abcd"),
    site("long", "long-label-0123abcd"),
  ];

  test("is shown to the edge with its deployment, and no longer once that is stopped", async () => {
    const store = memoryStore();
    await createRecord(store, record({ servers }));
    expect(await store.projections.list("label:")).toEqual(["label:long-label-0123abcd"]);
    expect(await store.projections.get("label:long-label-0123abcd")).toBe("items-abcd1234");
    await closeRecord(store, "items-abcd1234");
    expect(await store.projections.list("label:")).toEqual([]);
  });
});

describe("deployments", () => {
  test("are found by id and by instance id, and show as expired once their time is over", async () => {
    const store = memoryStore();
    await createRecord(store, record());
    expect(await getDeployment(store, "items-abcd1234", NOW)).toMatchObject({ status: "up" });
    expect(await getDeployment(store, "@local/demo/items-abcd1234", NOW)).toMatchObject({ deployment_id: "items-abcd1234" });
    expect(await getDeployment(store, "items-abcd1234", new Date("2026-03-01T10:00:00Z"))).toMatchObject({ status: "expired" });
    expect(await getDeployment(store, "../items", NOW)).toBeNull();
  });

  test("are listed newest first", async () => {
    const store = memoryStore();
    await createRecord(store, record({ deployment_id: "old-abcd1234", created_at_utc: "2026-03-01 08:00 UTC" }));
    await createRecord(store, record({ deployment_id: "new-abcd1234", created_at_utc: "2026-03-01 09:00 UTC" }));
    expect((await listDeployments(store, NOW)).map(({ deployment_id: id }) => id)).toEqual(["new-abcd1234", "old-abcd1234"]);
  });
});
