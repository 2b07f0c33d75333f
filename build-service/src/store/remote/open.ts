import { UserError } from "@agent-env/protocol";
import type { StoreSide } from "../store.ts";
import { apiOver } from "./api.ts";
import { exchangeWith } from "./exchange.ts";
import { leasesOver } from "./leases.ts";
import { objectsOver } from "./objects.ts";
import { projectionsOver } from "./projections.ts";
import { s3Over } from "./s3.ts";
import { type CloudflareRecords, namespaceName } from "./setting.ts";
import { REMOTE_TIMING, type RemoteTiming } from "./timing.ts";

/** The store at Cloudflare: R2 over its S3 API, KV over REST. Sends nothing by itself. */
export function remoteSide(setting: CloudflareRecords, timing: RemoteTiming = REMOTE_TIMING): StoreSide {
  const { kvNamespaceId } = setting;
  if (kvNamespaceId === null) {
    throw new UserError({
      what: "[stores] records: kv_namespace_id is missing",
      why: "the gateway at the edge reads records from there",
      next: "make the namespace, which prints its id: agent-env store init",
      exitCode: 2,
    });
  }
  const exchange = exchangeWith(timing);
  const s3 = s3Over(setting, exchange);
  // A renewal must neither wait behind uploads nor be patient with one that isn't answered.
  const urgent = exchangeWith({ ...timing, silenceMs: timing.lease.silenceMs });
  const leases = leasesOver(s3Over(setting, urgent), timing.lease);
  return {
    objects: objectsOver(s3, leases.assertHeld),
    projections: projectionsOver(apiOver(setting, exchange), namespaceName(setting), kvNamespaceId, leases.assertHeld),
    lock: leases.lock,
  };
}
