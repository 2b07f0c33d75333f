import type { Settings } from "../config/settings.ts";
import { openLocalStore } from "./local.ts";
import { remoteSide } from "./remote/open.ts";
import { endpointsOf, type RecordsSetting } from "./remote/setting.ts";
import { pairOfSides } from "./sides.ts";
import type { Store } from "./store.ts";

/**
 * The stores that the configuration names: the local one alone, or with one at Cloudflare for bare ids. `mode` is for the
 * local one, as `openLocalStore` has it. The other is asked nothing before it is first used.
 */
export async function openStore(records: RecordsSetting, stateDir: string, mode: "read" | "write"): Promise<Store> {
  const remote = records.kind === "local" ? null : remoteSide(records);
  const local = await openLocalStore(stateDir, mode);
  return remote === null ? local : pairOfSides(local, remote);
}

/** `[stores] records`, with the endpoints that the environment may move. */
export function recordsSetting(settings: Pick<Settings, "stores" | "env">): RecordsSetting {
  const { records } = settings.stores();
  if (records === "local") return { kind: "local" };
  return {
    kind: "cloudflare",
    accountId: records.account_id,
    bucket: records.bucket,
    kvNamespaceId: records.kv_namespace_id ?? null,
    accessKeyId: records.access_key_id,
    secretAccessKey: records.secret_access_key,
    apiToken: records.api_token,
    endpoints: endpointsOf(records.account_id, settings.env),
  };
}
