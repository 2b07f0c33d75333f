import type { Store } from "./store.ts";

/** What a reader sees where nothing was ever written. Writing to it is a bug: a writer opens the store to write. */
export function emptyStore(stateDir: string): Store {
  const refuse = (): never => {
    throw new Error(`${stateDir}: opened for reading, and it isn't there`);
  };
  return {
    objects: {
      get: async () => null,
      head: async () => null,
      list: async () => [],
      create: async () => refuse(),
      put: async () => refuse(),
      replace: async () => refuse(),
      remove: async () => refuse(),
    },
    projections: { get: async () => null, put: async () => refuse(), remove: async () => refuse() },
    lock: async () => refuse(),
    close: async () => {},
  };
}
