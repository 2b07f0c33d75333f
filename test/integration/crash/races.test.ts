import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { latestVersion, readVersion } from "../../../build-service/src/store/versions.ts";
import { temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { EVERY_WRITE } from "./bundle.ts";
import { startChild } from "./child.ts";
import { openStore, STORES, type StorePlace } from "./stores.ts";

const WRITERS = 10;
const BUDGET_MS = 240_000;

describe.each(STORES)("processes that race $name", ({ start }) => {
  const work = temporaryFolder();
  const folder = join(work.path, "bundle");
  const engine = join(work.path, "engine");
  let place: StorePlace;
  let store: SingleStore;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ place, stop } = await start(join(work.path, "state")));
    store = await openStore(place);
  });
  afterAll(async () => {
    await store?.close();
    await stop?.();
    work[Symbol.dispose]();
  });

  test("B8.5 two runs on one bundle: one waits, says for which, and finds all of it written", { timeout: BUDGET_MS }, async () => {
    writeTree(folder, EVERY_WRITE);
    const children = [0, 1].map(() => startChild("child-make.ts", { store: place, folder, engine, death: null, holdBuilds: true }));
    // The one that has the locks can't go on before the other waits for them.
    await Promise.race(children.map((child) => child.seen("waits for ")));
    for (const child of children) child.tell("build");
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends.map(({ code, err }) => ({ code, err }))).toEqual([0, 1].map(() => ({ code: 0, err: "" })));
    const waited = ends.findIndex(({ out }) => out.includes("waits for"));
    const first = JSON.parse(ends[1 - waited]?.out ?? "");
    const [wait, second] = (ends[waited]?.out ?? "")
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(first.lines.every((line: string) => line.endsWith(": v1 (new)"))).toBe(true);
    expect(wait).toEqual({
      kind: "wait",
      entry: "agents/helper",
      message: expect.stringMatching(
        new RegExp(`^waits for run-test \\(pid ${children[1 - waited]?.pid}, since [\\d-]+T[\\d:.]+Z\\), which writes @local/.*/helper$`),
      ),
    });
    expect(second).toEqual({ changes: [], lines: first.lines.map((line: string) => line.replace(" (new)", ", unchanged")) });
  });

  test("B5, B8.5 ten writers of one id write ten versions; of two env types one wins the id", { timeout: BUDGET_MS }, async () => {
    const children = Array.from({ length: WRITERS }, (_, n) =>
      startChild("child-put.ts", { store: place, envType: n % 2 === 0 ? "mcp_server" : "website" }),
    );
    await Promise.all(children.map((child) => child.seen("ready")));
    for (const child of children) child.tell("write");
    const ends = await Promise.all(children.map(({ ended }) => ended));
    expect(ends.map(({ err }) => err).join("")).toBe("");
    const results: { artifact: number | string; env: number | string }[] = ends.map(({ out }) => JSON.parse(out.replace("ready\n", "")));

    const oneToTen = Array.from({ length: WRITERS }, (_, n) => n + 1);
    expect(results.map(({ artifact }) => Number(artifact)).sort((a, b) => a - b)).toEqual(oneToTen);
    expect(await latestVersion(store, "artifact", "team/file")).toBe(WRITERS);

    // Without the lock a writer gives up when it has lost five times.
    const latest = await latestVersion(store, "env", "team/env");
    const versions = Array.from({ length: latest }, (_, n) => n + 1);
    const types = await Promise.all(versions.map(async (version) => (await readVersion(store, "env", "team/env", version))?.type));
    const [winner = "", loser = ""] = types[0] === "website" ? ["website", "mcp_server"] : ["mcp_server", "website"];
    expect(types).toEqual(versions.map(() => winner));
    const written = results.flatMap(({ env }) => (typeof env === "number" ? [env] : []));
    expect(written.sort((x, y) => x - y)).toEqual(versions);
    const refused = results.flatMap(({ env }) => (typeof env === "string" ? [env] : []));
    const otherType = `team/env: is an env of type ${winner} in the store, and this is a ${loser}`;
    expect(refused.filter((message) => message !== "team/env: 5 times another writer took the next version first")).toEqual(
      Array.from({ length: WRITERS / 2 }, () => otherType),
    );
    expect(JSON.parse((await store.projections.get("env:team/env")) ?? "")).toEqual({
      revision: latest,
      record: { id: "team/env", type: winner, version: latest },
    });
  });
});
