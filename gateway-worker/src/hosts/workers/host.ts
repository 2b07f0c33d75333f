import type { DeploymentRecord } from "@agent-env/protocol";
import type { Host, Sql } from "../../core/seam.ts";
import { bugLine } from "../bug.ts";
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
  record: () => DeploymentRecord;
  out: WorkersOut | null;
  wakeAt?: (ms: number | null) => void;
}): Host {
  const { context, doors, sql, committed, record, out, wakeAt } = parts;
  const log = (line: string): void => console.warn(line);
  return {
    sql,
    committed,
    soon: (work) => void setTimeout(work, 0),
    background: (work) => context.waitUntil(work.catch((error: unknown) => log(bugLine(error)))),
    upstream: upstreamBy(doors),
    upgrade: out === null ? noUpgrade : upgradeBy(doors, out),
    decode,
    record,
    log,
    ...(wakeAt === undefined ? {} : { wakeAt }),
  };
}

function noUpgrade(): never {
  throw new Error("an object takes no upgrade");
}
