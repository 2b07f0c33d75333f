import { UserError } from "@agent-env/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { initRemote } from "../../../build-service/src/store/remote/init.ts";
import { type Facade, startFacade } from "../../fixtures/cloudflare/facade.ts";
import type { Fault } from "../../fixtures/cloudflare/faults.ts";
import { QUICK } from "../../fixtures/store-kinds.ts";

let facade: Facade;
beforeEach(async () => {
  facade = await startFacade({ empty: true });
});
afterEach(() => facade.close());

const BUCKET = 'R2 bucket "shared-records" of account 023e105f4ecef8ad9ca31a8372d0c353';
const NAMESPACE = "KV namespace (none) of account 023e105f4ecef8ad9ca31a8372d0c353";
const DASHBOARD = "https://dash.cloudflare.com/023e105f4ecef8ad9ca31a8372d0c353";
const BUCKET_BY_HAND = `give the token "Workers R2 Storage: Edit", or click it: ${DASHBOARD}/r2/overview, "Create bucket", name "shared-records"`;
const NAMESPACE_BY_HAND = `give the token "Workers KV Storage: Edit", or click it: ${DASHBOARD}/workers/kv/namespaces, "Create", and write its id into kv_namespace_id of [stores] records`;

const failed = (status: number, code: number): Fault => ({
  kind: "answer",
  status,
  body: JSON.stringify({ success: false, errors: [{ code, message: "no" }], result: null }),
});
const init = (kvNamespaceId: string | null = null) => initRemote({ ...facade.setting, kvNamespaceId }, QUICK);

async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UserError)) throw new Error(`not refused: ${String(error)}`);
  return { what: error.message, why: error.why, next: error.next, exitCode: error.exitCode };
}

describe("what store init can't make is said with what Cloudflare answered, and what to do by hand", () => {
  test.each<[string, Fault, Awaited<ReturnType<typeof refusal>>]>([
    [
      "a bucket that may not be looked for",
      { method: "GET", path: "/r2/buckets", ...failed(403, 10000) },
      {
        what: `${BUCKET}: GET /r2/buckets/shared-records`,
        why: "Cloudflare answered 403 (code 10000): the API token is wrong, or may not do that",
        next: BUCKET_BY_HAND,
        exitCode: 2,
      },
    ],
    [
      "a bucket that is neither there nor missing",
      { method: "GET", path: "/r2/buckets", ...failed(400, 10005) },
      { what: BUCKET, why: "Cloudflare answered 400 (code 10005)", next: BUCKET_BY_HAND, exitCode: 2 },
    ],
    [
      "a bucket that isn't made",
      { method: "POST", path: "/r2/buckets", ...failed(400, 10005) },
      { what: BUCKET, why: "Cloudflare answered 400 (code 10005)", next: BUCKET_BY_HAND, exitCode: 2 },
    ],
    [
      "namespaces that can't be listed",
      { method: "GET", path: "/storage/kv/namespaces", ...failed(400, 10001) },
      {
        what: NAMESPACE,
        why: "Cloudflare answered 400 (code 10001)",
        next: "look at account_id and kv_namespace_id of [stores] records, then: agent-env doctor",
        exitCode: 1,
      },
    ],
    [
      "a namespace that isn't made",
      { method: "POST", path: "/storage/kv/namespaces", ...failed(400, 10014) },
      { what: NAMESPACE, why: "Cloudflare answered 400 (code 10014)", next: NAMESPACE_BY_HAND, exitCode: 2 },
    ],
  ])("%s", async (_name, fault, said) => {
    facade.fail(fault);
    expect(await refusal(init())).toEqual(said);
    expect(facade.faultsLeft()).toBe(0);
  });

  test("a namespace that the configuration names and that isn't there", async () => {
    expect(await refusal(init("0".repeat(32)))).toEqual({
      what: `KV namespace ${"0".repeat(32)} of account 023e105f4ecef8ad9ca31a8372d0c353`,
      why: "Cloudflare answered 404 (code 10013)",
      next: "leave kv_namespace_id out of [stores] records, and run this again, which makes one",
      exitCode: 2,
    });
  });
});

test("a bucket that another machine makes meanwhile counts as made, and all is found the second time", async () => {
  facade.fail({ method: "POST", path: "/r2/buckets", kind: "lost-answer" });
  const { bucket, namespace } = await init();
  expect(bucket).toEqual({ name: "shared-records", made: true });
  expect(await init()).toEqual({ bucket: { name: "shared-records", made: false }, namespace: { id: namespace.id, made: false } });
  expect(await init(namespace.id)).toMatchObject({ namespace: { id: namespace.id, made: false } });
});
