import type { DeploymentRecord } from "@agent-env/protocol";
import type { Observer } from "../../core/observe/observer.ts";
import type { Host, Sql } from "../../core/seam.ts";
import { settingsFrom } from "../../core/settings.ts";
import { bugLine } from "../bug.ts";
import { decode } from "../decode.ts";
import { observerFor } from "../observer.ts";
import { type Doors, passingDoors } from "./doors.ts";
import type { Environment } from "./environment.ts";
import { BODILESS, type WorkersOut } from "./in-out.ts";
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
  observer: Observer | undefined;
  wakeAt?: (ms: number | null) => void;
}): Host {
  const { context, doors, sql, committed, record, out, observer, wakeAt } = parts;
  const log = (line: string): void => console.warn(line);
  return {
    sql,
    committed,
    soon: (work) => void setTimeout(work, 0),
    background: (work) => context.waitUntil(work.catch((error: unknown) => log(bugLine(error)))),
    upstream: upstreamBy(doors),
    bodiless: BODILESS,
    upgrade: out === null ? noUpgrade : upgradeBy(doors, out),
    decode,
    record,
    log,
    ...(observer === undefined ? {} : { observer }),
    ...(wakeAt === undefined ? {} : { wakeAt }),
  };
}

function noUpgrade(): never {
  throw new Error("an object takes no upgrade");
}

/** What watches the requests of a Worker, or of one object. */
export function observerIn(env: Environment): Observer | undefined {
  return observerFor(settingsFrom(env), { upstream: upstreamBy(passingDoors), log: (line) => console.warn(line) });
}
