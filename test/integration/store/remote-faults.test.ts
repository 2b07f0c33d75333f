import { UserError } from "@agent-env/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { remoteSide } from "../../../build-service/src/store/remote/open.ts";
import type { CloudflareRecords } from "../../../build-service/src/store/remote/setting.ts";
import type { StoreSide } from "../../../build-service/src/store/store.ts";
import { type Facade, startFacade } from "../../fixtures/cloudflare/facade.ts";
import type { Fault } from "../../fixtures/cloudflare/faults.ts";
import { QUICK } from "../../fixtures/store-kinds.ts";

const IMPATIENT = { ...QUICK, silenceMs: 1_500, longestRetryAfterMs: 2_000 };

let facade: Facade;
let store: StoreSide;
beforeAll(async () => {
  facade = await startFacade();
  store = remoteSide(facade.setting, IMPATIENT);
});
afterEach(() => facade.clearFaults());
afterAll(() => facade.close());

const text = async (key: string): Promise<string> => new TextDecoder().decode((await store.objects.get(key))?.bytes);

/** Faults that pass, whether or not what was sent had its effect. */
const PASSING: readonly [string, Fault][] = [
  ["429", { kind: "answer", status: 429, headers: { "retry-after": "0" } }],
  ["500", { kind: "answer", status: 500 }],
  ["503 three times", { kind: "answer", status: 503, times: 3 }],
  ["a reset connection", { kind: "reset" }],
  ["no answer", { kind: "silence" }],
  ["an answer lost after the effect", { kind: "lost-answer" }],
  ["no answer after the effect", { kind: "silence-after" }],
];

let number = 0;
const newKey = (): string => `faults/${number++}`;

describe.each(PASSING)("B8.4 with %s", (_name, fault) => {
  test("a create succeeds once, and is known as one's own", async () => {
    const key = newKey();
    facade.fail({ ...fault, method: "PUT", path: key });
    expect(await store.objects.create(key, "mine", { by: "me" })).toBe(true);
    expect(await store.objects.create(key, "mine", { by: "me" })).toBe(false);
    expect(facade.faultsLeft()).toBe(0);
    expect(await text(key)).toBe("mine");
    expect((await store.objects.head(key))?.metadata).toEqual({ by: "me" });
  });

  test("a create that another has won is not taken for one's own, although it holds the same", async () => {
    const key = newKey();
    await store.objects.create(key, "same");
    facade.fail({ ...fault, method: "PUT", path: key });
    expect(await store.objects.create(key, "same")).toBe(false);
  });

  test("a swap holds once", async () => {
    const key = newKey();
    await store.objects.put(key, "1");
    const etag = (await store.objects.head(key))?.etag ?? "";
    facade.fail({ ...fault, method: "PUT", path: key });
    expect(await store.objects.replace(key, "2", etag)).toBe(true);
    expect(await store.objects.replace(key, "3", etag)).toBe(false);
    expect(await text(key)).toBe("2");
  });

  test("reads, lists, removals and projections are repeated", async () => {
    const key = newKey();
    await store.objects.put(key, "x");
    facade.fail({ ...fault, path: key });
    expect(await text(key)).toBe("x");
    facade.fail({ ...fault, path: `prefix=${encodeURIComponent(key)}` });
    expect(await store.objects.list(key)).toHaveLength(1);
    facade.fail({ ...fault, method: "DELETE", path: key });
    await store.objects.remove(key);
    expect(await store.objects.head(key)).toBeNull();
    facade.fail({ ...fault, path: "/bulk" });
    await store.projections.put("env:x", key);
    facade.fail({ ...fault, path: "/values/" });
    expect(await store.projections.get("env:x")).toBe(key);
    expect(facade.faultsLeft()).toBe(0);
  });
});

test("a body that was cut is read again, never given out in part", async () => {
  const bytes = Buffer.alloc(300_000, "abc");
  await store.objects.put("cut", bytes);
  facade.fail({ kind: "cut-answer", method: "GET", path: "cut", times: 2 });
  expect(Buffer.compare(Buffer.from((await store.objects.get("cut"))?.bytes ?? []), bytes)).toBe(0);
});

test("Retry-After is kept to", async () => {
  await store.objects.put("later", "x");
  facade.fail({ kind: "answer", status: 429, headers: { "retry-after": "1" }, method: "GET", path: "later" });
  const start = performance.now();
  await store.objects.get("later");
  expect(performance.now() - start).toBeGreaterThanOrEqual(990);
});

test("keys that KV names as unsuccessful are sent again", async () => {
  const body = JSON.stringify({ success: true, errors: [], result: { successful_key_count: 1, unsuccessful_keys: ["env:b"] } });
  facade.fail({ kind: "answer", status: 200, body, method: "PUT", path: "/bulk" });
  await store.projections.putAll(
    new Map([
      ["env:a", "1"],
      ["env:b", "2"],
    ]),
  );
  expect(await store.projections.getAll(["env:a", "env:b"])).toEqual(new Map([["env:b", "2"]]));
});

describe("what can't be done is said once, with what, why and the next step", () => {
  const name = 'R2 bucket "shared-records" of account 023e105f4ecef8ad9ca31a8372d0c353';
  const kv = "KV namespace 8d3b7d1c1fd34b6a9f3c2a5d2b5b0a11 of account 023e105f4ecef8ad9ca31a8372d0c353";
  const again = "look at your network and at https://www.cloudflarestatus.com, then run the command again, which goes on from there";
  const keys = "look at access_key_id and secret_access_key of [stores] records, then: agent-env doctor";

  async function refusal(
    change: Partial<CloudflareRecords>,
    fault: Fault | null,
    call: (side: StoreSide) => Promise<unknown>,
  ): Promise<unknown> {
    if (fault !== null) facade.fail(fault);
    const side = remoteSide({ ...facade.setting, ...change }, IMPATIENT);
    const error: unknown = await call(side).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof UserError)) throw new Error(`no UserError: ${String(error)}`);
    const { message, why, next, exitCode } = error;
    return { what: message, why, next, exitCode };
  }

  test.each<[string, Partial<CloudflareRecords>, Fault | null, (side: StoreSide) => Promise<unknown>, object]>([
    [
      "a wrong secret",
      { secretAccessKey: "wrong" },
      null,
      (side) => side.objects.get("a/b"),
      {
        what: `${name}: GET a/b`,
        why: "R2 answered 403 SignatureDoesNotMatch: the access key is wrong, or may not do that",
        next: keys,
        exitCode: 2,
      },
    ],
    [
      "an unknown key",
      { accessKeyId: "wrong" },
      null,
      (side) => side.objects.put("a/b", "x"),
      {
        what: `${name}: PUT a/b`,
        why: "R2 answered 403 InvalidAccessKeyId: the access key is wrong, or may not do that",
        next: keys,
        exitCode: 2,
      },
    ],
    [
      "no such bucket",
      { bucket: "other" },
      null,
      (side) => side.objects.list("a"),
      {
        what: 'R2 bucket "other" of account 023e105f4ecef8ad9ca31a8372d0c353: GET the bucket',
        why: "R2 answered 404 NoSuchBucket: there is no such bucket",
        next: "make it: agent-env store init",
        exitCode: 2,
      },
    ],
    [
      "a wrong clock",
      {},
      { kind: "answer", status: 403, body: "<Error><Code>RequestTimeTooSkewed</Code></Error>" },
      (side) => side.objects.get("a"),
      {
        what: `${name}: GET a`,
        why: "R2 answered 403 RequestTimeTooSkewed: this machine's clock is wrong",
        next: "set the clock, then run it again",
        exitCode: 2,
      },
    ],
    [
      "a wrong token",
      { apiToken: "wrong" },
      null,
      (side) => side.projections.get("env:a"),
      {
        what: `${kv}: GET /storage/kv/namespaces/8d3b7d1c1fd34b6a9f3c2a5d2b5b0a11/values/env%3Aa`,
        why: "Cloudflare answered 401 (code 10000): the API token is wrong, or may not do that",
        next: 'give api_token of [stores] records the permission "Workers KV Storage: Edit", then: agent-env doctor',
        exitCode: 2,
      },
    ],
    [
      "no such namespace",
      { kvNamespaceId: "none" },
      null,
      (side) => side.projections.put("env:a", "x"),
      {
        what: "KV namespace none of account 023e105f4ecef8ad9ca31a8372d0c353: there is none",
        why: "Cloudflare answered 404 (code 10013)",
        next: "look at kv_namespace_id of [stores] records, or make one: agent-env store init",
        exitCode: 2,
      },
    ],
    [
      "500 for good",
      {},
      { kind: "answer", status: 500, times: 7 },
      (side) => side.objects.get("a"),
      { what: `${name}: GET a failed 7 times`, why: "the last time: 500", next: again, exitCode: 1 },
    ],
    [
      "a longer wait than is reasonable",
      {},
      { kind: "answer", status: 429, headers: { "retry-after": "300" } },
      (side) => side.projections.put("a", "x"),
      {
        what: `${kv}: PUT /storage/kv/namespaces/8d3b7d1c1fd34b6a9f3c2a5d2b5b0a11/bulk failed once`,
        why: "the last time: 429, and asked to wait for 300 s",
        next: again,
        exitCode: 1,
      },
    ],
    [
      "nobody there",
      { endpoints: { s3: "http://127.0.0.1:2", api: "http://127.0.0.1:2" } },
      null,
      (side) => side.objects.get("a"),
      { what: `${name}: GET a failed 7 times`, why: "the last time: connect ECONNREFUSED 127.0.0.1:2", next: again, exitCode: 1 },
    ],
    [
      "an answer that is no fault of time",
      {},
      { kind: "answer", status: 400, body: "<Error><Code>EntityTooLarge</Code></Error>" },
      (side) => side.objects.put("a", "x"),
      {
        what: `${name}: PUT a`,
        why: "R2 answered 400 EntityTooLarge",
        next: "look that code up at https://developers.cloudflare.com/r2/api/error-codes/",
        exitCode: 1,
      },
    ],
    [
      "a key that no address can spell",
      {},
      null,
      (side) => side.objects.get("records/env/../x/1.json"),
      {
        what: "records/env/../x/1.json: no key of the store",
        why: 'a part "." or ".." of an address stands for a folder',
        next: "give the id another name",
        exitCode: 1,
      },
    ],
  ])("%s", async (_name, change, fault, call, said) => {
    expect(await refusal(change, fault, call)).toEqual(said);
  });
});

describe("N7 no secret is in what is thrown, also when the other side says it", () => {
  const secrets = ["facade-secret-access-key", "facade-api-token"];
  const echo = `<Error><Code>AccessDenied</Code><Message>${secrets.join(" ")}</Message></Error>`;

  test.each<[string, Fault]>([
    ["a refusal", { kind: "answer", status: 403, body: echo }],
    ["a bad request", { kind: "answer", status: 400, body: echo }],
    ["an error", { kind: "answer", status: 500, body: echo, times: 7 }],
    ["no connection", { kind: "reset", times: 7 }],
    ["another place", { kind: "answer", status: 307, headers: { location: "http://127.0.0.1:1/" }, body: echo, times: 7 }],
  ])("%s", async (_name, fault) => {
    for (const call of [() => store.objects.put("a", "x"), () => store.projections.put("a", "x")]) {
      facade.fail(fault);
      const error: unknown = await call().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(UserError);
      expect(secrets.filter((secret) => everything(error).includes(secret))).toEqual([]);
      facade.clearFaults();
    }
  });

  function everything(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    const own = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)));
    return [...own, error.cause === undefined ? "" : everything(error.cause)].join("\n");
  }
});
