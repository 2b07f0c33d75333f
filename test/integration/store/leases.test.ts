import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { UserError } from "@agent-env/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { remoteSide } from "../../../build-service/src/store/remote/open.ts";
import type { StoreSide } from "../../../build-service/src/store/store.ts";
import { type Facade, startFacade } from "../../fixtures/cloudflare/facade.ts";
import { QUICK } from "../../fixtures/store-kinds.ts";
import { until } from "../../fixtures/until.ts";

/** The real times are 10, 30 and 5 s. R2's dates have whole seconds, so a lease can't be void much sooner. */
const SHORT = {
  ...QUICK,
  tries: 2,
  lease: { renewEveryMs: 500, voidAfterMs: 4_000, marginMs: 1_500, lookEveryMs: 50, silenceMs: 2_000 },
};
const never = new AbortController().signal;
const silent = (): void => {};

let facade: Facade;
let store: StoreSide;
beforeAll(async () => {
  facade = await startFacade();
  store = remoteSide(facade.setting, SHORT);
});
afterEach(() => facade.clearFaults());
afterAll(() => facade.close());

const writeProblem = async (side: StoreSide): Promise<{ what: string; why: string; next: string } | null> => {
  const error: unknown = await side.objects.put("a/b", "x").then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error === null) return null;
  if (!(error instanceof UserError)) throw error;
  return { what: error.message, why: error.why, next: error.next };
};

describe("B8.5 a lock of the remote store is a lease", () => {
  test("that its holder keeps for as long as it lives", async () => {
    const lock = await store.lock("kept", "first", silent, never);
    const renewed = () => facade.requests.filter((line) => line.startsWith("PUT") && line.includes("/locks/")).length;
    const before = renewed();
    await until("renewed until a lease without renewals would be void", 10_000, () => renewed() - before >= 11);
    const gaveUp = new AbortController();
    const other = remoteSide(facade.setting, SHORT).lock("kept", "second", () => gaveUp.abort(new Error("still held")), gaveUp.signal);
    await expect(other).rejects.toThrow(/still held|abort/);
    expect(await writeProblem(store)).toBeNull();
    await lock.release();
  });

  test("that ends some time after its process was killed", async () => {
    const holder = spawn(process.execPath, [
      fileURLToPath(new URL("../../fixtures/cloudflare/hold-lease.ts", import.meta.url)),
      JSON.stringify({ setting: facade.setting, timing: SHORT, name: "killed" }),
    ]);
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const waits: string[] = [];
    const start = performance.now();
    const waiting = store.lock("killed", "second", (owner) => waits.push(owner), never);
    await until("the second waits", 5_000, () => waits.length > 0);
    holder.kill("SIGKILL");
    await (await waiting).release();
    expect(waits).toEqual(["held by a child"]);
    expect(performance.now() - start).toBeGreaterThan(SHORT.lease.voidAfterMs - SHORT.lease.renewEveryMs - 1_000);
  });

  test("whose takers each hear who won, also those that found it free and came too late", async () => {
    const told: string[] = [];
    const owners = ["a", "b", "c", "d", "e"];
    let isFirst = true;
    const take = async (owner: string): Promise<void> => {
      const lock = await store.lock("wanted by all", owner, (holder) => told.push(`${owner} waits for ${holder}`), never);
      if (isFirst) {
        isFirst = false;
        const losers = owners.filter((other) => other !== owner);
        await until("all others heard it", 5_000, () => losers.every((other) => told.includes(`${other} waits for ${owner}`)));
      }
      await lock.release();
    };
    await Promise.all(owners.map(take));
    expect(told).toHaveLength(owners.length - 1);
  });

  test("whose renewal survives a lost answer", async () => {
    const side = remoteSide(facade.setting, SHORT);
    const lock = await side.lock("lost answer", "me", silent, never);
    facade.fail({ kind: "lost-answer", method: "PUT", path: "/locks/", times: 1 });
    await until("the fault was met", 5_000, () => facade.faultsLeft() === 0);
    const before = facade.requests.length;
    await until("renewed again", 5_000, () => facade.requests.slice(before).filter((line) => line.includes("/locks/")).length >= 3);
    expect(await writeProblem(side)).toBeNull();
    await lock.release();
  });

  test("and a holder whose renewals fail stops writing before another may take it, until it lets go", async () => {
    const side = remoteSide(facade.setting, SHORT);
    const lock = await side.lock("env items", "me", silent, never);
    const start = performance.now();
    facade.fail({ kind: "answer", status: 503, method: "PUT", path: "/locks/", times: 1_000 });
    let problem: Awaited<ReturnType<typeof writeProblem>> = null;
    await until("it stops", 10_000, async () => {
      problem = await writeProblem(side);
      return problem !== null;
    });
    expect(performance.now() - start).toBeLessThan(SHORT.lease.voidAfterMs);
    expect(problem).toEqual({
      what: "env items: this process no longer holds its lock, so it has stopped writing",
      why: expect.stringMatching(
        /^it was not renewed for [23] s: R2 bucket "shared-records" of account \S+: PUT locks\/[0-9a-f]{32}\.json failed 2 times; the last time: 503$/,
      ),
      next: "run the command again: what was written before stays, and it goes on from there",
    });
    await expect(side.objects.create("a/c", "x")).rejects.toThrow("no longer holds its lock");
    await expect(side.projections.put("env:a", "x")).rejects.toThrow("no longer holds its lock");
    await side.objects.get("a/b");
    facade.clearFaults();
    await lock.release();
    expect(await writeProblem(side)).toBeNull();
  });

  test("and a holder that stood still, and whose lease was taken, finds out and doesn't take it back", async () => {
    const side = remoteSide(facade.setting, SHORT);
    const lock = await side.lock("taken", "first", silent, never);
    const key = await lockKey("taken");
    const taken = JSON.stringify({ name: "taken", owner: "second", holder: "another", renewals: 0 });
    await store.objects.put(key, taken);
    await until("it finds out", 10_000, async () => (await writeProblem(side)) !== null);
    expect(await writeProblem(side)).toEqual({
      what: "taken: this process no longer holds its lock, so it has stopped writing",
      why: "another took it over, since it had not been renewed in time",
      next: "run the command again: what was written before stays, and it goes on from there",
    });
    await lock.release();
    expect(new TextDecoder().decode((await store.objects.get(key))?.bytes)).toBe(taken);
  });
});

/** Where the lock of that name lies. */
async function lockKey(name: string): Promise<string> {
  for (const { key } of await store.objects.list("locks/")) {
    const state: unknown = JSON.parse(new TextDecoder().decode((await store.objects.get(key))?.bytes));
    if (typeof state === "object" && state !== null && "name" in state && state.name === name) return key;
  }
  throw new Error(`no lock ${name}`);
}
