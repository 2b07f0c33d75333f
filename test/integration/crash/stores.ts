import { openLocalStore } from "../../../build-service/src/store/local.ts";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import type { Death } from "./dying-store.ts";

/** Names a store to another process. */
export type StorePlace = { readonly kind: "local"; readonly stateDir: string };

/** What a child is told: a bundle, where it is written, and where it dies. */
export type MakeOrder = {
  readonly store: StorePlace;
  readonly folder: string;
  /** The folder of what stands for the Engine. */
  readonly engine: string;
  readonly death: Death | null;
};

/** The stores that a bundle is written to, each with what serves it while a test runs. */
export const STORES: readonly {
  readonly name: string;
  readonly start: (stateDir: string) => Promise<{ readonly place: StorePlace; readonly stop: () => Promise<void> }>;
}[] = [{ name: "in the local store", start: async (stateDir) => ({ place: { kind: "local", stateDir }, stop: async () => {} }) }];

export async function openStore(place: StorePlace): Promise<SingleStore> {
  return openLocalStore(place.stateDir, "write");
}
