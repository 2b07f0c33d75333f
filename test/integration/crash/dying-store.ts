import { singleStore } from "../../../build-service/src/store/sides.ts";
import type { SingleStore, StoreSide } from "../../../build-service/src/store/store.ts";

/** Where a process kills itself: at a change that it makes to a store. */
export type Death = {
  readonly change: Change;
  /** Ahead of the change, while it is under way, or once it was made. */
  readonly when: "before" | "during" | "after";
};

/**
 * One change of a store: `create records/env/…/1.json`. Attempts' ids, which no two runs share, are left out, and what is done
 * again is numbered: `put records/env/…/latest.json (2)`.
 */
export type Change = string;

/**
 * `store`, with each change that is made through it noted in `changes`, and the process killed (SIGKILL) at one of them. A change
 * that is under way has been handed to the store and not been answered.
 */
export function dyingStore(store: SingleStore, changes: Change[], death: Death | null): SingleStore {
  const counts = new Map<string, number>();

  async function change<Result>(name: string, key: string, make: () => Promise<Result>): Promise<Result> {
    const plain = `${name} ${key.replace(/(?<=\/attempts\/)[0-9a-f]{16}/, "<attempt>")}`;
    const count = (counts.get(plain) ?? 0) + 1;
    counts.set(plain, count);
    const numbered = count === 1 ? plain : `${plain} (${count})`;
    changes.push(numbered);
    const when = death?.change === numbered ? death.when : null;
    if (when === "before") return die();
    const made = make();
    if (when === "during") return new Promise<Result>(() => setImmediate(die));
    const result = await made;
    return when === "after" ? die() : result;
  }

  const { objects, projections } = store;
  const side: StoreSide = {
    objects: {
      ...objects,
      create: (key, content, metadata) => change("create", key, () => objects.create(key, content, metadata)),
      put: (key, content, metadata) => change("put", key, () => objects.put(key, content, metadata)),
      replace: (key, content, etag) => change("replace", key, () => objects.replace(key, content, etag)),
      remove: (key) => change("remove", key, () => objects.remove(key)),
    },
    projections: {
      ...projections,
      put: (key, value) => change("show", key, () => projections.put(key, value)),
      remove: (key) => change("hide", key, () => projections.remove(key)),
    },
    lock: store.lock,
  };
  return singleStore(side, () => store.close());
}

/** Never returns. */
function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}
