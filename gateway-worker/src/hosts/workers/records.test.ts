import { afterEach, expect, test, vi } from "vitest";
import { readRecord } from "./records.ts";

afterEach(() => void vi.restoreAllMocks());

const SECOND = 1_000;

/**
 * KV and R2 that answer with a text, or not at all. They model `get` alone: no caching, no metadata. Miniflare's real ones are
 * used where they can be; these can be away.
 */
function bindings(texts: { kv?: string | null; r2?: string | null }) {
  const asked: string[] = [];
  const answer = (from: "kv" | "r2", key: string): string | null => {
    asked.push(`${from} ${key}`);
    const text = texts[from];
    if (text === undefined) throw new Error(`${from} is away`);
    return text;
  };
  const RECORDS = { get: async (key: string) => answer("kv", key) };
  const STORE = {
    get: async (key: string) => {
      const text = answer("r2", key);
      return text === null ? null : { text: async () => text };
    },
  };
  return { env: { RECORDS, STORE }, asked, texts };
}

const projection = (revision: number, more: object = {}): string =>
  JSON.stringify({ revision, record: { revision, name: `r${revision}`, auth: { mode: "open" }, servers: [], ...more } });

test("N1 while KV and R2 are away, what was read is served by for ten minutes, and what was not is 503", async () => {
  vi.spyOn(console, "error").mockReturnValue(undefined);
  const { env, texts } = bindings({ kv: projection(1) });
  expect(await readRecord(env, "a", { nowMs: 0 })).toMatchObject({ record: { name: "r1" }, problem: null });
  delete texts.kv;
  expect(await readRecord(env, "a", { nowMs: 599 * SECOND })).toMatchObject({ record: { name: "r1" }, problem: null });
  const away = { status: 503, headers: [["retry-after", "1"]], body: { error: "the record of deployment a can't be read at the moment" } };
  expect(await readRecord(env, "a", { nowMs: 600 * SECOND })).toEqual({ record: null, problem: away, isOver: false });
  expect(await readRecord(env, "b", { nowMs: 0 })).toMatchObject({ problem: { status: 503 } });
});

test("N1 names that aren't deployments cost one look-up in two seconds each, and push no record out", async () => {
  const { env, asked, texts } = bindings({ kv: projection(1), r2: null });
  await readRecord(env, "kept", { nowMs: 0 });
  texts.kv = null;
  for (let n = 0; n < 6_000; n++) await readRecord(env, `made-up-${n}`, { nowMs: 0 });
  const before = asked.length;
  expect(await readRecord(env, "kept", { nowMs: SECOND })).toMatchObject({ record: { name: "r1" } });
  await readRecord(env, "made-up-5999", { nowMs: SECOND });
  expect(asked.length).toBe(before);
  await readRecord(env, "made-up-5999", { nowMs: 3 * SECOND });
  expect(asked.slice(before)).toEqual(["kv deployment:made-up-5999", "r2 deployments/made-up-5999.json"]);
});

test("N1 a record's end counts to the second, whenever it was read", async () => {
  const { env } = bindings({ kv: projection(1, { expires_at: "1970-01-01T00:00:01Z" }) });
  expect(await readRecord(env, "ending", { nowMs: 999 })).toMatchObject({ problem: null });
  expect(await readRecord(env, "ending", { nowMs: 1_000 })).toMatchObject({
    problem: { status: 410, body: { error: "Deployment ending expired at 1970-01-01T00:00:01Z" } },
    isOver: true,
  });
});

test("N1 a revision older than the one asked for is looked up in R2, past the cache", async () => {
  const { env } = bindings({ kv: projection(1), r2: JSON.stringify(JSON.parse(projection(2)).record) });
  expect(await readRecord(env, "behind", { nowMs: 0 })).toMatchObject({ record: { revision: 1 } });
  expect(await readRecord(env, "behind", { nowMs: 1, atLeast: 2 })).toMatchObject({ record: { revision: 2 } });
});
