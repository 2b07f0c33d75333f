import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { byCodePoint } from "../../../build-service/src/bundle/code-points.ts";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { STORE_KINDS } from "../../fixtures/store-kinds.ts";

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const never = new AbortController().signal;
const unexpected = (holder: string): never => {
  throw new Error(`waited for ${holder}`);
};

/** Keys as ids may spell them: what a URL, XML, a header or a sort by UTF-16 would trip over. */
const HARD_KEYS = [
  "hard/plain.json",
  "hard/with space and  two",
  "hard/a+b&c=d,e(f)@g~h.json",
  "hard/100%25/%2F%",
  "hard/Straße/日本/メモ",
  "hard/\u{1f600}",
  "hard/\uffee",
  "hard/<xml>'\"&amp;",
  "hard/a?b#c",
  "hard//double",
  "hard/!*'()",
];

describe.each(STORE_KINDS)("a $name", ({ start }) => {
  let kind: Awaited<ReturnType<typeof start>>;
  let store: SingleStore;
  let other: SingleStore;
  beforeAll(async () => {
    kind = await start();
    store = await kind.open();
    other = await kind.open();
  });
  afterAll(async () => {
    await store.close();
    await other.close();
    await kind.stop();
  });

  describe("objects", () => {
    test("nothing is where nothing was written", async () => {
      expect(await store.objects.get("missing/key")).toBeNull();
      expect(await store.objects.head("missing/key")).toBeNull();
      expect(await store.objects.list("missing/")).toEqual([]);
      await store.objects.remove("missing/key");
    });

    test("what one writes another reads: bytes, size, etag, metadata", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
      expect(await store.objects.create("bytes", bytes, { attempt: "a1", digest: "sha256:00" })).toBe(true);
      const found = await other.objects.get("bytes");
      const head = await other.objects.head("bytes");
      expect([...(found?.bytes ?? [])]).toEqual([...bytes]);
      expect(found?.metadata).toEqual({ attempt: "a1", digest: "sha256:00" });
      expect(head).toEqual({ key: "bytes", sizeBytes: 256, etag: found?.etag, metadata: { attempt: "a1", digest: "sha256:00" } });
    });

    test("an empty object is there", async () => {
      await store.objects.put("empty", "");
      expect(await other.objects.head("empty")).toMatchObject({ sizeBytes: 0, metadata: {} });
      expect((await other.objects.get("empty"))?.bytes).toHaveLength(0);
    });

    test.each(["Straße 日本 \u{1f600}", " é  at the ends ", "é".repeat(200), "plain, with a space"])("metadata keeps %j", async (value) => {
      await store.objects.put("metadata", "x", { value });
      expect((await other.objects.head("metadata"))?.metadata).toEqual({ value });
    });

    test("an object is created once, and who comes second is told, whatever it holds", async () => {
      expect(await store.objects.create("once", "one", { by: "first" })).toBe(true);
      expect(await other.objects.create("once", "two")).toBe(false);
      expect(await other.objects.create("once", "one", { by: "first" })).toBe(false);
      expect(text((await other.objects.get("once"))?.bytes)).toBe("one");
    });

    test("of 20 writers in two processes exactly one creates, also when all write the same", async () => {
      for (const key of ["race/different", "race/same"]) {
        const writers = Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? store : other).objects.create(key, key === "race/same" ? "same" : `writer ${n}`),
        );
        expect((await Promise.all(writers)).filter((won) => won)).toHaveLength(1);
      }
    });

    test("a swap holds only against what was read, and takes the metadata away", async () => {
      await store.objects.put("swap", "1", { by: "first" });
      const etag = (await store.objects.head("swap"))?.etag ?? "";
      expect(await other.objects.replace("swap", "2", etag)).toBe(true);
      expect(await store.objects.replace("swap", "3", etag)).toBe(false);
      expect(await store.objects.replace("swap-missing", "3", etag)).toBe(false);
      expect(await store.objects.get("swap-missing")).toBeNull();
      const found = await store.objects.get("swap");
      expect({ text: text(found?.bytes), metadata: found?.metadata }).toEqual({ text: "2", metadata: {} });
    });

    test("of ten swaps at once, each tried until it holds, none is lost", async () => {
      await store.objects.put("count", "0");
      const increment = async (from: SingleStore): Promise<void> => {
        for (;;) {
          const found = await from.objects.get("count");
          if (found === null) throw new Error("gone");
          if (await from.objects.replace("count", String(Number(text(found.bytes)) + 1), found.etag)) return;
        }
      };
      await Promise.all(Array.from({ length: 10 }, (_, n) => increment(n % 2 === 0 ? store : other)));
      expect(text((await store.objects.get("count"))?.bytes)).toBe("10");
    });

    test.each(HARD_KEYS)("the key %j is written, read, listed and removed", async (key) => {
      expect(await store.objects.create(key, key)).toBe(true);
      expect(text((await other.objects.get(key))?.bytes)).toBe(key);
      expect((await other.objects.list(key)).map((listed) => listed.key)).toContain(key);
      await store.objects.remove(key);
      expect(await other.objects.head(key)).toBeNull();
    });

    test("a list holds every key below its prefix and no other, by code point, over more than one page", async () => {
      const keys = [...Array.from({ length: 30 }, (_, n) => `many/${n}`), "many/\u{1f600}", "many/\uffee", "many/a b", "many/a/b"];
      await Promise.all(keys.map((key) => store.objects.put(key, key)));
      await store.objects.put("many", "beside");
      await store.objects.put("manya", "beside");
      const found = await other.objects.list("many/");
      expect(found.map(({ key }) => key)).toEqual(keys.toSorted(byCodePoint));
      expect(found.map(({ sizeBytes }) => sizeBytes)).toEqual(keys.toSorted(byCodePoint).map((key) => Buffer.byteLength(key)));
      expect(found[0]).toEqual({ key: "many/0", sizeBytes: 6, etag: (await store.objects.head("many/0"))?.etag });
    });

    test("8 MB go there and back", async () => {
      const bytes = Buffer.alloc(8_000_000, "0123456789abcdef");
      await store.objects.create("large", bytes);
      expect(Buffer.compare(bytes, Buffer.from((await other.objects.get("large"))?.bytes ?? []))).toBe(0);
    });
  });

  describe("projections", () => {
    test("are written, read, listed and removed, alone and many at once", async () => {
      const values = new Map(Array.from({ length: 23 }, (_, n) => [`env:team/${String(n).padStart(2, "0")}`, `{"n":${n},"text":"é"}`]));
      await store.projections.putAll(values);
      await store.projections.put("deployment:a-1", "other");
      expect(await other.projections.get("env:team/07")).toBe('{"n":7,"text":"é"}');
      expect(await other.projections.list("env:")).toEqual([...values.keys()]);
      expect(await other.projections.getAll([...values.keys(), "env:none"])).toEqual(values);
      await store.projections.removeAll([...values.keys()].slice(1));
      await store.projections.remove("deployment:a-1");
      await store.projections.remove("deployment:none");
      expect(await other.projections.list("")).toEqual(["env:team/00"]);
      expect(await other.projections.get("env:team/07")).toBeNull();
    });
  });

  describe("locks", () => {
    test("B8.5 a second holder waits, is told once for what, and gets the lock when the first lets go", async () => {
      const first = await store.lock("write/env items", "run-1, pid 7", unexpected, never);
      const told: string[] = [];
      const order: string[] = [];
      const second = other
        .lock("write/env items", "run-2", (holder) => told.push(holder), never)
        .then(async (lock) => {
          order.push("second has it");
          await lock.release();
        });
      await expect.poll(() => told).toEqual(["run-1, pid 7"]);
      order.push("first lets go");
      await first.release();
      await second;
      expect(told).toEqual(["run-1, pid 7"]);
      expect(order).toEqual(["first lets go", "second has it"]);
    });

    test("two names are two locks", async () => {
      const locks = await Promise.all(["env a", "env b"].map((name) => store.lock(name, "me", unexpected, never)));
      for (const lock of locks) await lock.release();
    });

    test("one that was let go is free at once", async () => {
      for (let n = 0; n < 3; n++) await (await (n % 2 === 0 ? store : other).lock("again", "me", unexpected, never)).release();
    });

    test("of ten that want it one has it at a time", async () => {
      let holders = 0;
      let most = 0;
      const work = async (n: number): Promise<void> => {
        const lock = await (n % 2 === 0 ? store : other).lock("crowd", `run-${n}`, () => {}, never);
        most = Math.max(most, ++holders);
        await store.objects.put(`crowd/${n}`, "x");
        holders--;
        await lock.release();
      };
      await Promise.all(Array.from({ length: 10 }, (_, n) => work(n)));
      expect(most).toBe(1);
    });

    test("waiting ends when the signal says so", async () => {
      const first = await store.lock("stopped", "first", unexpected, never);
      const stop = new AbortController();
      const waiting = other.lock("stopped", "second", () => stop.abort(new Error("stopped waiting")), stop.signal);
      await expect(waiting).rejects.toThrow(/stopped waiting|abort/);
      await first.release();
    });
  });
});
