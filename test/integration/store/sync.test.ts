import { DeploymentRecord, deploymentObjectKey, recordKey } from "@agent-env/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRecord, updateRecord } from "../../../build-service/src/deploy/record.ts";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { syncProjections } from "../../../build-service/src/store/sync.ts";
import { putNextVersion } from "../../../build-service/src/store/versions.ts";
import { STORE_KINDS } from "../../fixtures/store-kinds.ts";

const WRITE = { write: true, onStep: () => {} };
const site = { name: "long", kind: "website", url: "http://127.0.0.1:1", label: "a-label-that-was-cut-0123abcd" };
const deployment = (id: string, servers: readonly object[] = []) =>
  DeploymentRecord.parse({ deployment_id: id, name: "env1", auth: { mode: "open" }, servers, environment_card: null });

describe.each(STORE_KINDS)("B8.4 store sync on a $name", ({ start }) => {
  let kind: Awaited<ReturnType<typeof start>>;
  let store: SingleStore;
  beforeAll(async () => {
    kind = await start();
    store = await kind.open();
    for (const id of ["team/a", "team/b", "team/b", "@local/~/c"]) await putNextVersion(store, "env", { id, type: "multi" }, {});
    await putNextVersion(store, "artifact", { id: "team/file", type: "file" }, {});
    await createRecord(store, deployment("up-abcd1234", [site]));
    await createRecord(store, deployment("over-abcd1234"));
    await updateRecord(store, "over-abcd1234", () => ({ status: "stopped" }));
  });
  afterAll(async () => {
    await store.close();
    await kind.stop();
  });

  const all = async (): Promise<Map<string, string>> => store.projections.getAll(await store.projections.list(""));

  test("changes nothing where KV shows what R2 holds", async () => {
    const before = await all();
    expect(await syncProjections(store, WRITE)).toEqual({ added: [], corrected: [], removed: [], unchanged: 5 });
    expect(await all()).toEqual(before);
  });

  test("adds what is missing, corrects what differs or lags, removes strays, and leaves other keys alone", async () => {
    const right = await all();
    await store.projections.remove("env:team/a");
    await store.projections.remove("deployment:up-abcd1234");
    await store.projections.put("env:team/b", '{"revision":1,"record":{"id":"team/b","type":"multi","version":1}}');
    await store.projections.put("env:team/none", "{}");
    await store.projections.remove("label:a-label-that-was-cut-0123abcd");
    await store.projections.put("label:of-nobody-0123abcd", "gone-abcd1234");
    await store.projections.put("deployment:over-abcd1234", "{}");
    await store.projections.put("other:key", "kept");
    const differs = {
      added: ["env:team/a", "deployment:up-abcd1234", "label:a-label-that-was-cut-0123abcd"],
      corrected: ["env:team/b"],
      removed: ["deployment:over-abcd1234", "env:team/none", "label:of-nobody-0123abcd"],
      unchanged: 1,
    };
    const broken = await all();
    expect(await syncProjections(store, { ...WRITE, write: false })).toEqual(differs);
    expect(await all()).toEqual(broken);
    expect(await syncProjections(store, WRITE)).toEqual(differs);
    expect(await all()).toEqual(new Map([...right, ["other:key", "kept"]]));
    await store.projections.remove("other:key");
  });

  test("a version or deployment that is written meanwhile is what KV shows in the end", async () => {
    await store.projections.put("env:team/a", "{}");
    await store.projections.put("deployment:up-abcd1234", "{}");
    let first = true;
    const busy = {
      ...store.local,
      projections: {
        ...store.projections,
        async putAll(values: ReadonlyMap<string, string>) {
          if (first) {
            first = false;
            await putNextVersion(store, "env", { id: "team/a", type: "multi" }, {});
            await updateRecord(store, "up-abcd1234", () => ({ status: "stopped" }));
          }
          await store.projections.putAll(values);
        },
      },
    };
    await syncProjections(busy, WRITE);
    expect(first).toBe(false);
    expect(JSON.parse((await store.projections.get("env:team/a")) ?? "")).toMatchObject({ revision: 2, record: { version: 2 } });
    for (const key of ["deployment:up-abcd1234", "label:a-label-that-was-cut-0123abcd"])
      expect(await store.projections.get(key)).toBeNull();
  });

  test("a record that can't be read stops it, by its key, and removes nothing", async () => {
    await store.projections.put("env:team/stray", "{}");
    await store.objects.put(recordKey("env", "team/broken", 1), "{");
    await expect(syncProjections(store, WRITE)).rejects.toThrow("records/env/team/broken/1.json: stored, but it can't be read");
    expect(await store.projections.get("env:team/stray")).toBe("{}");
    expect(await store.objects.head(deploymentObjectKey("up-abcd1234"))).not.toBeNull();
  });
});
