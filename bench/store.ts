import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalStore } from "../build-service/src/store/local.ts";
import type { Store } from "../build-service/src/store/store.ts";
import { latestVersion, putNextVersion } from "../build-service/src/store/versions.ts";
import { type Bench, rowOf, secondsOf } from "./row.ts";

const MANY = 10_000;
const FEW = 100;
const AT_ONCE = 16;
const LOOKUPS = 200;
const ROUNDS = 5;

/** Looking up the latest version of an id must not take longer because the store holds more. */
export const store: Bench = {
  name: "store",
  about: `the latest version of an id, in a store of ${MANY} records and in one of ${FEW}`,

  async run(say) {
    const folder = mkdtempSync(join(tmpdir(), "agent-env-bench-"));
    const stores: Store[] = [];
    try {
      const [many, few] = await Promise.all([MANY, FEW].map((count) => filled(join(folder, String(count)), count, say)));
      if (many === undefined || few === undefined) throw new Error("no store was filled");
      stores.push(many, few);
      const ours: number[] = [];
      const peer: number[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        ours.push((1000 / LOOKUPS) * (await secondsOf(() => lookUp(many, MANY))));
        peer.push((1000 / LOOKUPS) * (await secondsOf(() => lookUp(few, FEW))));
      }
      const metric = `the latest version of an id, ${MANY} records (ours) and ${FEW} (peer)`;
      const original = "its store is another: no figure would be about the same thing";
      return [rowOf({ bench: "store", metric, unit: "ms", ours, peer, beyond: false, original })];
    } finally {
      for (const one of stores) await one.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const idOf = (index: number): string => `bench/items-${index}`;

async function filled(stateDir: string, count: number, say: (line: string) => void): Promise<Store> {
  const made = await openLocalStore(stateDir, "write");
  let next = 0;
  const write = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      if (index % 1_000 === 0) say(`writing record ${index + 1} of ${count}`);
      await putNextVersion(made, "artifact", { id: idOf(index), type: "file" }, {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, write));
  return made;
}

async function lookUp(from: Store, count: number): Promise<void> {
  for (let lookup = 0; lookup < LOOKUPS; lookup++) {
    const id = idOf((lookup * 7_919) % count);
    if ((await latestVersion(from, "artifact", id)) !== 1) throw new Error(`${id} has another version than 1`);
  }
}
