import { LOCAL_PREFIX } from "@agent-env/protocol";
import type { SingleStore, Store, StoreSide } from "./store.ts";

/** A store whose one side holds all records. */
export function singleStore(side: StoreSide, close: () => Promise<void>): SingleStore {
  return { ...side, of: () => side, local: side, configured: side, close };
}

/** `@local/` ids in the local store, bare ids in `configured`. */
export function pairOfSides(local: SingleStore, configured: StoreSide): Store {
  return {
    of: (id) => (id.startsWith(LOCAL_PREFIX) ? local.local : configured),
    local: local.local,
    configured,
    close: () => local.close(),
  };
}
