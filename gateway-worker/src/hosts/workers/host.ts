import type { DeploymentRecord } from "@agent-env/protocol";
import type { Host, Sql } from "../../core/seam.ts";
import { decode } from "../decode.ts";
import type { Doors } from "./doors.ts";
import type { WorkersOut } from "./in-out.ts";
import { upgradeBy } from "./upgrade.ts";
import { upstreamBy } from "./upstream.ts";

/** Workers as the core sees them. `out` is where a WebSocket goes. */
export function workersHost(parts: {
  context: { waitUntil(work: Promise<unknown>): void };
  doors: Doors;
  sql: Sql;
  committed: () => Promise<void>;
  record: DeploymentRecord;
  out: WorkersOut | null;
}): Host {
  const { context, doors, sql, committed, record, out } = parts;
  return {
    sql,
    committed,
    background: (work) => context.waitUntil(work),
    upstream: upstreamBy(doors),
    upgrade: out === null ? () => Promise.reject(new Error("an object takes no upgrade")) : upgradeBy(doors, out),
    decode,
    record: () => record,
    log: (line) => console.warn(line),
  };
}
