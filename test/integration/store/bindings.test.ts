import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bindings } from "../../../build-service/src/store/bindings.ts";
import { bindingsAt } from "../../../build-service/src/store/bindings-client.ts";
import { startMiniflare } from "../../../build-service/src/store/miniflare.ts";
import { childrenOf, portsOf, socketFilesOf } from "../../fixtures/child-processes.ts";
import { until } from "../../fixtures/until.ts";

const ODD_NAMES = ["../x", "/", "a%2Fb", "?#&", "a b", '"', "\\", "\n", "ü", "\u{1f600}"];

let folder: string;
let bindings: Bindings;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "agent-env-bindings-"));
  bindings = await startMiniflare(folder);
});
afterAll(async () => {
  await bindings.close();
  rmSync(folder, { recursive: true });
});

describe("names and values that HTTP has a meaning for come back as they were", () => {
  test.each(ODD_NAMES)("the key %j", async (key) => {
    await bindings.bucket.put(key, Buffer.from(key));
    expect(await bindings.bucket.get(key)).toMatchObject({ key, bytes: new Uint8Array(Buffer.from(key)) });
    await bindings.namespace.put(key, key);
    expect(await bindings.namespace.get(key)).toBe(key);
    expect((await bindings.namespace.list({ prefix: key })).keys).toContainEqual({ name: key });
  });

  test.each([
    ...ODD_NAMES.map((value): [string, string] => [JSON.stringify(value), value]),
    ["of the most bytes, that are longest in JSON", "\u0001".repeat(8_180)],
    ["of the most bytes, none of them ASCII", "中".repeat(2_725)],
  ])("the metadata %s", async (_, value) => {
    const put = await bindings.bucket.put("metadata", Buffer.from("x"), { customMetadata: { value } });
    const head = { key: "metadata", size: 1, etag: "9dd4e461268c8034f5c8564e155c67a6", uploaded: put?.uploaded, customMetadata: { value } };
    expect(put).toEqual(head);
    expect(await bindings.bucket.head("metadata")).toEqual(head);
    expect(await bindings.bucket.get("metadata")).toEqual({ ...head, bytes: Uint8Array.of(0x78) });
    expect(await bindings.bucket.list({ prefix: "metadata", include: ["customMetadata"] })).toEqual({ objects: [head], truncated: false });
  });

  test("nothing, and what isn't there", async () => {
    await bindings.bucket.put("nothing", new Uint8Array());
    expect((await bindings.bucket.get("nothing"))?.bytes).toEqual(new Uint8Array());
    await bindings.namespace.put("nothing", "");
    expect(await bindings.namespace.get("nothing")).toBe("");
    expect(await bindings.bucket.get("none")).toBeNull();
    expect(await bindings.bucket.head("none")).toBeNull();
    expect(await bindings.namespace.get("none")).toBeNull();
  });
});

test("a put with a condition that doesn't hold is null, and changes nothing", async () => {
  const first = await bindings.bucket.put("condition", Buffer.from("1"));
  expect(await bindings.bucket.put("condition", Buffer.from("2"), { onlyIf: { etagDoesNotMatch: "*" } })).toBeNull();
  expect(await bindings.bucket.put("condition", Buffer.from("2"), { onlyIf: { etagMatches: "another" } })).toBeNull();
  expect((await bindings.bucket.get("condition"))?.bytes).toEqual(new Uint8Array(Buffer.from("1")));
  expect(await bindings.bucket.put("condition", Buffer.from("2"), { onlyIf: { etagMatches: first?.etag ?? "" } })).not.toBeNull();
});

test("lists go on at their cursors", async () => {
  for (const key of ["page/1", "page/2", "page/3"]) {
    await bindings.bucket.put(key, Buffer.from("x"));
    await bindings.namespace.put(key, "x");
  }
  const objects = await bindings.bucket.list({ prefix: "page/", limit: 2 });
  expect(objects).toMatchObject({ objects: [{ key: "page/1" }, { key: "page/2" }], truncated: true });
  const cursor = objects.truncated ? objects.cursor : "not truncated";
  expect(await bindings.bucket.list({ prefix: "page/", cursor })).toMatchObject({ objects: [{ key: "page/3" }], truncated: false });
  const keys = await bindings.namespace.list({ prefix: "page/", limit: 2 });
  expect(keys).toMatchObject({ keys: [{ name: "page/1" }, { name: "page/2" }], list_complete: false });
  const next = keys.list_complete ? "complete" : keys.cursor;
  expect(await bindings.namespace.list({ prefix: "page/", cursor: next })).toEqual({ keys: [{ name: "page/3" }], list_complete: true });
});

test.each<[string, (bindings: Bindings) => Promise<unknown>, string]>([
  ["a key that is too long", ({ bucket }) => bucket.head("k".repeat(1_025)), "head: The specified object name is not valid. (10020)"],
  [
    "metadata that is too large",
    ({ bucket }) => bucket.put("k", Buffer.from("x"), { customMetadata: { a: "x".repeat(8_193) } }),
    "put: Your metadata headers exceed the maximum allowed metadata size. (10012)",
  ],
  [
    "a list that is too long",
    ({ bucket }) => bucket.list({ prefix: "", limit: 1_001 }),
    "list: MaxKeys params must be positive integer <= 1000. (10022)",
  ],
  ["a KV key that can't be", ({ namespace }) => namespace.get(".."), '".." is not allowed as a key name.'],
])("%s is refused with the binding's own words, and the connection serves the next call", async (_, call, message) => {
  await expect(call(bindings)).rejects.toThrow(new Error(message));
  expect(await bindings.bucket.get("none")).toBeNull();
});

test("300 reads at once are each answered with their own object", async () => {
  const keys = Array.from({ length: 30 }, (_, index) => `many/${index}`);
  for (const key of keys) await bindings.bucket.put(key, Buffer.from(key.repeat(100)));
  const asked = Array.from({ length: 10 }, () => keys).flat();
  const found = await Promise.all(asked.map((key) => bindings.bucket.get(key)));
  expect(found.map((object) => new TextDecoder().decode(object?.bytes))).toEqual(asked.map((key) => key.repeat(100)));
});

test("100 MB go in and out unchanged, and are not held a second time to be sent", async () => {
  const content = randomBytes(100_000_000);
  const before = process.memoryUsage().arrayBuffers;
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }, 5);
  await bindings.bucket.put("large", content);
  clearInterval(sampling);
  expect(most - before).toBeLessThan(content.length / 2);
  expect(digest((await bindings.bucket.get("large"))?.bytes ?? "")).toBe(digest(content));
});

test.skipIf(process.platform !== "linux")("no port that the store opens serves who doesn't know its secret", async () => {
  const before = new Set(childrenOf(process.pid));
  const ours = portsOf(String(process.pid));
  const other = mkdtempSync(join(tmpdir(), "agent-env-ports-"));
  const started = await startMiniflare(other);
  try {
    await started.bucket.put("key", Buffer.from("secret"));
    const workerds = childrenOf(process.pid).filter((pid) => !before.has(pid));
    expect(workerds).toHaveLength(1);
    const ports = [...workerds.flatMap(portsOf), ...portsOf(String(process.pid)).filter((port) => !ours.includes(port))];
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) {
      const url = `http://127.0.0.1:${port}/cdn-cgi/local/r2/public/agent-env-store/key`;
      expect((await fetch(url)).status, url).toBeOneOf([401, 403]);
      const stranger = bindingsAt(new URL(`http://127.0.0.1:${port}`), "0".repeat(64));
      await expect(stranger.bucket.get("key"), String(port)).rejects.toThrow(/ answered 40[13]$/);
      await stranger.close();
    }
    const files = workerds.flatMap(socketFilesOf);
    expect(files).toEqual([expect.stringMatching(/^\/tmp\/agent-env-closed-\w+\/socket$/)]);
    await until("the folder of the closed socket is gone", 5_000, () => !files.some((file) => existsSync(dirname(file))));
    expect(await started.bucket.head("key")).toMatchObject({ size: 6 });
  } finally {
    await started.close();
    rmSync(other, { recursive: true });
  }
});

const digest = (content: Uint8Array | string): string => createHash("sha256").update(content).digest("hex");
