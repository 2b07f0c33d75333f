import { afterAll, describe, expect, test } from "vitest";
import { ensureBuilt, newestBuildRow } from "../../build-service/src/images/ensure.ts";
import { imageBuilder } from "../../build-service/src/infra/builder.ts";
import type { StageEvent } from "../../build-service/src/report/events.ts";
import { docker, noEngine, storedImage, testBed } from "./support.ts";

const builder = imageBuilder();
const ENTRY = "envs/trial (Dockerfile image)";
const made = new Set<string>();

afterAll(async () => {
  for (const id of made) await docker.getImage(id).remove({ force: true });
});

const messages = (events: readonly StageEvent[], phase: string): string[] =>
  events.flatMap((event) => (event.kind === "image" && event.phase === phase ? [event.message] : []));

describe.skipIf(noEngine)("B8.1 N7 a version's image", () => {
  test("is built once, is then reused by its id, and is built again from the stored files when the Engine lost it", async () => {
    await using place = await testBed();
    const { store, events, emit, signal } = place;
    const record = await storedImage(store, { Dockerfile: "FROM scratch\nCOPY . /\n", "a.txt": String(Math.random()) });
    const ensure = () => ensureBuilt({ store, record, entry: ENTRY, builder, emit, signal });

    const first = await ensure();
    made.add(first.engineImageId);
    expect(first.built).toBe(true);
    expect(await newestBuildRow(store, record, builder)).toMatchObject({
      n: 1,
      row: { image_id: first.engineImageId, source_digest: record.source_digest, bases: {} },
    });

    const second = await ensure();
    expect(second).toEqual({ engineImageId: first.engineImageId, built: false });
    expect(messages(events, "reused")).toEqual([`reused: the Engine holds ${first.engineImageId}`]);

    await docker.getImage(first.engineImageId).remove({ force: true });
    made.delete(first.engineImageId);
    const third = await ensure();
    made.add(third.engineImageId);
    expect(third.built).toBe(true);
    expect(messages(events, "start")).toContainEqual(
      expect.stringMatching(`^built again: the Engine has lost ${first.engineImageId} of .*; its files come from the store$`),
    );
    expect((await newestBuildRow(store, record, builder))?.n).toBe(2);
  });

  test("is built by one of two that want it at once", async () => {
    await using place = await testBed();
    const { store, emit, signal } = place;
    const record = await storedImage(store, { Dockerfile: "FROM scratch\nCOPY . /\n", "a.txt": String(Math.random()) });
    const both = await Promise.all([1, 2].map(() => ensureBuilt({ store, record, entry: ENTRY, builder, emit, signal })));
    const [one] = both;
    made.add(String(one?.engineImageId));
    expect(new Set(both.map(({ engineImageId }) => engineImageId)).size).toBe(1);
    expect(both.map(({ built }) => built).sort()).toEqual([false, true]);
  });

  test("isn't taken from a row of other files, which a killed run left", async () => {
    await using place = await testBed();
    const { store, emit, signal } = place;
    const id = `test/${Math.random()}`;
    const before = await storedImage(store, { Dockerfile: "FROM scratch\nCOPY . /\n", "a.txt": "before" }, id);
    const after = await storedImage(store, { Dockerfile: "FROM scratch\nCOPY . /\n", "a.txt": "after" }, id);
    const first = await ensureBuilt({ store, record: before, entry: ENTRY, builder, emit, signal });
    const second = await ensureBuilt({ store, record: after, entry: ENTRY, builder, emit, signal });
    made.add(first.engineImageId).add(second.engineImageId);
    expect(second.built).toBe(true);
    expect(second.engineImageId).not.toBe(first.engineImageId);
  });

  test("keeps the whole log of a build that failed, and says where", async () => {
    await using place = await testBed();
    const { store, events, emit, signal } = place;
    const record = await storedImage(store, { Dockerfile: "FROM debian:bookworm-slim\nRUN echo said && false\n" });
    await expect(ensureBuilt({ store, record, entry: ENTRY, builder, emit, signal })).rejects.toMatchObject({ name: "BuildFailed" });
    const where = events.flatMap((event) => (event.kind === "log" ? [event.message] : []));
    const key = /^the whole log is in the store: r2:(blobs\/sha256\/[0-9a-f]{64})$/.exec(where[0] ?? "")?.[1];
    const log = new TextDecoder().decode((await store.local.objects.get(key ?? ""))?.bytes);
    expect(log).toContain("\nsaid\n");
    expect(await newestBuildRow(store, record, builder)).toBeNull();
  });
});
