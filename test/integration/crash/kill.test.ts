import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { temporaryFolder, writeTree } from "../../fixtures/folder.ts";
import { changes as changedLines, lines, make, plan } from "../../fixtures/make-bundle.ts";
import { EDIT, EVERY_WRITE } from "./bundle.ts";
import { runChild } from "./child.ts";
import { type Content, comparable, contentOf, restore, stateOf } from "./content.ts";
import { diskBuilder } from "./disk-builder.ts";
import type { Change, Death } from "./dying-store.ts";
import { endLeases, type MakeOrder, openStore, STORES, type StorePlace } from "./stores.ts";

/** With AGENT_ENV_TEST_LONG every change is died at, else one of each kind: ahead of it, in it or after it, in turn. */
const isLong = process.env["AGENT_ENV_TEST_LONG"] === "1";
const WAYS = ["before", "during", "after"] as const;
const BUDGET_MS = isLong ? 3_600_000 : 600_000;

const NOTHING: Content = { objects: new Map(), projections: new Map() };

describe.each(STORES)("B8.4 a run killed at any of its writes, $name", ({ start }) => {
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

  const request = () => ({ folder, store, builder: diskBuilder(engine) });
  const makeInChild = (death: Death | null) => {
    const order: MakeOrder = { store: place, folder, engine, death, holdBuilds: false };
    return runChild("child-make.ts", order);
  };

  /** Dies at each change that a run over `before` makes, and lets the next run go on from what that leaves. */
  async function dieEverywhere(before: Content): Promise<number> {
    await restore(store, before);
    const undisturbed = await makeInChild(null);
    expect(undisturbed).toMatchObject({ code: 0, err: "" });
    const made: { changes: Change[] } = JSON.parse(undisturbed.out);
    const whole = comparable(await contentOf(store));

    const deaths = deathsAt(made.changes);
    for (const death of deaths) {
      await restore(store, before);
      const killed = await makeInChild(death);
      expect(killed, JSON.stringify(death)).toEqual({ code: null, signal: "SIGKILL", out: "", err: "" });
      await endLeases(store);
      const left = await stateOf(store);
      const predicted = lines(await plan(request()));
      expect({ death, dryRunLeft: await stateOf(store) }).toEqual({ death, dryRunLeft: left });
      const next = await make(request());
      expect({ death, lines: lines(next.plan) }).toEqual({ death, lines: predicted });
      expect({ death, content: comparable(await contentOf(store)) }).toEqual({ death, content: whole });
      expect(changedLines(await plan(request())), JSON.stringify(death)).toEqual([]);
    }
    return deaths.length;
  }

  // In memory, `materialize.test.ts` dies at each write of a first run, so the short form leaves that out.
  if (isLong) {
    test("leaves a store that the next run finishes, as if nothing had happened", { timeout: BUDGET_MS }, async () => {
      writeTree(folder, EVERY_WRITE);
      expect(await dieEverywhere(NOTHING)).toBeGreaterThan(7);
    });
  }

  test("while it wrote an edit makes one version of it", { timeout: BUDGET_MS }, async () => {
    await restore(store, NOTHING);
    writeTree(folder, EVERY_WRITE);
    await make(request());
    writeTree(folder, EDIT);
    expect(await dieEverywhere(await contentOf(store))).toBeGreaterThan(7);
  });
});

function deathsAt(changes: readonly Change[]): Death[] {
  const oneOfEach = new Map(changes.map((change) => [kindOf(change), change]));
  return (isLong ? changes : [...oneOfEach.values()]).map((change, index) => ({ change, when: WAYS[index % WAYS.length] ?? "before" }));
}

/** `create records`, `put ledger done`: what a change is for, whatever it is about. */
function kindOf(change: Change): string {
  const [, name = "", folder = ""] = /^(\w+) (\w+)/.exec(change) ?? [];
  return `${name} ${folder} ${/latest|done|attempts/.exec(change)?.[0] ?? ""}`;
}
