import { FileRecord } from "@agent-env/protocol";
import { expect, test } from "vitest";
import { memoryStore } from "../../../test/fixtures/memory-store.ts";
import { putBlob, readFileBlob } from "./blobs.ts";

const bytes = Buffer.from("content");
const KEY = "blobs/sha256/ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

const file = FileRecord.parse({
  ...{ id: "team/seed", type: "file", version: 3, description: "", filename: "a.txt", content_type: "text/plain", metadata: {} },
  ...{ object_url: `r2:${KEY}`, s3_url: `r2:${KEY}`, sha256: KEY.slice(-64), size: 7 },
});

test("N7 a blob whose bytes something changed is refused, and putting the same bytes mends it", async () => {
  const store = memoryStore();
  expect(await putBlob(store, bytes)).toBe(`r2:${KEY}`);
  await store.objects.put(KEY, "c0ntent");
  await expect(readFileBlob(store, file)).rejects.toMatchObject({
    name: "UserError",
    message: "team/seed v3: its content is not what was stored",
    why: `${KEY} is to hold bytes of that sha256, and holds 7 bytes of sha256 0f7d8f95b3255432d5b96010042e17e70c184a31b43fac49b225046c4f905f41: something else changed them`,
    next: "put it again: agent-env artifact put <folder> --id team/seed",
  });
  await putBlob(store, bytes);
  expect(Buffer.from(await readFileBlob(store, file)).toString()).toBe("content");
});

test("N7 a blob that has gone is refused", async () => {
  await expect(readFileBlob(memoryStore(), file)).rejects.toMatchObject({
    name: "UserError",
    message: "team/seed v3: its content is not in the store",
    why: `nothing is at ${KEY}`,
    next: "put it again: agent-env artifact put <folder> --id team/seed",
  });
});

test("a blob that is there is not written again", async () => {
  const store = memoryStore();
  await putBlob(store, bytes);
  await putBlob(store, bytes);
  expect(store.writes).toEqual([KEY]);
});
