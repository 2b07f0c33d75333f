import { singleStore } from "./sides.ts";
import type { SingleStore } from "./store.ts";

/** What a reader sees where nothing was ever written. Writing to it is a bug: a writer opens the store to write. */
export function emptyStore(stateDir: string): SingleStore {
  const noWriting = (): never => {
    throw new Error(`${stateDir}: opened for reading, and it isn't there`);
  };
  const objects = {
    get: async () => null,
    head: async () => null,
    list: async () => [],
    create: async () => noWriting(),
    put: async () => noWriting(),
    replace: async () => noWriting(),
    remove: async () => noWriting(),
  };
  const projections = {
    get: async () => null,
    list: async () => [],
    getAll: async () => new Map<string, string>(),
    put: async () => noWriting(),
    remove: async () => noWriting(),
    putAll: async () => noWriting(),
    removeAll: async () => noWriting(),
  };
  return singleStore({ objects, projections, lock: async () => noWriting() }, async () => {});
}
