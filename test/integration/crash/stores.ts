import { openLocalStore } from "../../../build-service/src/store/local.ts";
import { remoteSide } from "../../../build-service/src/store/remote/open.ts";
import type { CloudflareRecords } from "../../../build-service/src/store/remote/setting.ts";
import { singleStore } from "../../../build-service/src/store/sides.ts";
import type { SingleStore } from "../../../build-service/src/store/store.ts";
import { startFacade } from "../../fixtures/cloudflare/facade.ts";
import { QUICK } from "../../fixtures/store-kinds.ts";
import type { Death } from "./dying-store.ts";

/** Names a store to another process. */
export type StorePlace =
  | { readonly kind: "local"; readonly stateDir: string }
  | { readonly kind: "remote"; readonly setting: CloudflareRecords };

/** What a child is told: a bundle, where it is written, and where it dies. */
export type MakeOrder = {
  readonly store: StorePlace;
  readonly folder: string;
  /** The folder of what stands for the Engine. */
  readonly engine: string;
  readonly death: Death | null;
  /** It builds only once it gets a line. */
  readonly holdBuilds: boolean;
};

type Served = { readonly place: StorePlace; readonly stop: () => Promise<void> };

/** The stores that a bundle is written to, each with what serves it while a test runs. */
export const STORES: readonly { readonly name: string; readonly start: (folder: string) => Promise<Served> }[] = [
  { name: "in the local store", start: async (stateDir) => ({ place: { kind: "local", stateDir }, stop: async () => {} }) },
  {
    name: "in the remote store",
    async start(folder) {
      const facade = await startFacade({ folder });
      return { place: { kind: "remote", setting: facade.setting }, stop: () => facade.close() };
    },
  },
];

export async function openStore(place: StorePlace): Promise<SingleStore> {
  if (place.kind === "local") return openLocalStore(place.stateDir, "write");
  return singleStore(remoteSide(place.setting, QUICK), async () => {});
}

/**
 * Ends the locks of a process that was killed. The kernel does that in the local store; in a remote one they are leases that
 * end by themselves after 30 s, which `leases.test.ts` proves and no test here waits for.
 */
export async function endLeases({ objects }: SingleStore): Promise<void> {
  for (const { key } of await objects.list("locks/")) await objects.remove(key);
}
