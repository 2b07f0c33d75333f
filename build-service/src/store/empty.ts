import { singleStore } from "./sides.ts";
import type { SingleStore } from "./store.ts";

/** What a reader sees where nothing was ever written. Writing to it is a bug: a writer opens the store to write. */
export function emptyStore(stateDir: string): SingleStore {
  const refuse = (): never => {
    throw new Error(`${stateDir}: opened for reading, and it isn't there`);
  };
  const objects = {
    get: async () => null,
    head: async () => null,
    list: async () => [],
    create: async () => refuse(),
    put: async () => refuse(),
    replace: async () => refuse(),
    remove: async () => refuse(),
  };
  const projections = {
    get: async () => null,
    list: async () => [],
    getAll: async () => new Map<string, string>(),
    put: async () => refuse(),
    remove: async () => refuse(),
    putAll: async () => refuse(),
    removeAll: async () => refuse(),
  };
  return singleStore({ objects, projections, lock: async () => refuse() }, async () => {});
}
