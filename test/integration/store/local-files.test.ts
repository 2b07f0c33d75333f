import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bindings } from "../../../build-service/src/store/bindings.ts";
import { localFiles } from "../../../build-service/src/store/local-files.ts";
import { startMiniflare } from "../../../build-service/src/store/miniflare.ts";

const KEYS = ["a", "a/1", "a/2", "a/\u{1f600}", "a/\uff5e", "a0", "b/1"];

let folder: string;
let miniflare: Bindings;
let files: Bindings;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "agent-env-files-"));
  miniflare = await startMiniflare(folder);
  files = localFiles(folder, () => Promise.reject(new Error("Miniflare was started to read")));
  for (const key of KEYS) await miniflare.bucket.put(key, Buffer.from(`content of ${key}`), { customMetadata: { key } });
  await miniflare.bucket.put("b/empty", Buffer.alloc(0));
  await miniflare.bucket.put("b/gone", Buffer.from("x"));
  await miniflare.bucket.delete("b/gone");
});
afterAll(async () => {
  await files.close();
  await miniflare.close();
  rmSync(folder, { recursive: true });
});

describe("objects that are read from the files are those that Miniflare reads", () => {
  test.each([...KEYS, "b/empty", "b/gone", "none", ""])("%j", async (key) => {
    expect(await read(files, key)).toEqual(await read(miniflare, key));
    expect(headOf(await files.bucket.head(key))).toEqual(headOf(await miniflare.bucket.head(key)));
  });

  test.each(["", "a", "a/", "a/\u{1f600}", "b/", "c"])("listed below %j", async (prefix) => {
    expect(await list(files, prefix)).toEqual(await list(miniflare, prefix));
  });

  test("listed in pages", async () => {
    const first = await files.bucket.list({ prefix: "a/", limit: 3 });
    expect(first.objects.map(({ key }) => key)).toEqual(["a/1", "a/2", "a/\uff5e"]);
    const second = await files.bucket.list({ prefix: "a/", limit: 3, cursor: first.truncated ? first.cursor : "not truncated" });
    expect(second).toMatchObject({ objects: [{ key: "a/\u{1f600}" }], truncated: false });
  });

  test("a write is seen as soon as it is acknowledged, and a replaced one never as a mixture", async () => {
    for (let round = 1; round <= 100; round++) {
      const text = `${round}`.repeat(round * 50);
      const writing = miniflare.bucket.put("busy", Buffer.from(text));
      await read(files, "busy");
      const written = await writing;
      expect(await read(files, "busy")).toMatchObject({ text, etag: written?.etag });
    }
  });
});

test("B8.3 reading changes no file of the store, SQLite's -shm files apart", async () => {
  const before = contents();
  const reader = localFiles(folder, () => Promise.reject(new Error("Miniflare was started to read")));
  await reader.bucket.list({ prefix: "" });
  await read(reader, "a/1");
  await reader.close();
  expect(contents()).toEqual(before);
});

test("a store that nothing was ever written to is empty, and what starts Miniflare is a write", async () => {
  const empty = mkdtempSync(join(tmpdir(), "agent-env-files-"));
  let starts = 0;
  const bindings = localFiles(empty, () => {
    starts++;
    return startMiniflare(empty);
  });
  try {
    expect(await list(bindings, "")).toEqual([]);
    expect(await bindings.bucket.get("x")).toBeNull();
    expect([starts, readdirSync(empty)]).toEqual([0, []]);
    await Promise.all([bindings.bucket.put("x", Buffer.from("1")), bindings.bucket.put("y", Buffer.from("2"))]);
    expect(starts).toBe(1);
    expect(await list(bindings, "")).toMatchObject([{ key: "x" }, { key: "y" }]);
  } finally {
    await bindings.close();
    rmSync(empty, { recursive: true });
  }
});

async function read({ bucket }: Bindings, key: string) {
  const found = await bucket.get(key);
  return found && { ...headOf(found), text: new TextDecoder().decode(found.bytes) };
}

async function list({ bucket }: Bindings, prefix: string) {
  return (await bucket.list({ prefix, include: ["customMetadata"] })).objects.map(headOf);
}

function headOf(found: Awaited<ReturnType<Bindings["bucket"]["head"]>>) {
  if (found === null) return null;
  const { key, size, etag, uploaded, customMetadata } = found;
  return { key, size, etag, uploaded, customMetadata: customMetadata ?? {} };
}

function contents(): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile() && !item.name.endsWith("-shm"))
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.sort().map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]));
}
