import type { DeploymentRecord } from "@agent-env/protocol";
import type { Observer } from "../../core/observe/observer.ts";
import type { Changelog, Host, TrajectoryCopy } from "../../core/seam.ts";
import { bugLine } from "../bug.ts";
import { decode } from "../decode.ts";
import type { NodeSql } from "./sql.ts";
import { upgrade } from "./upgrade.ts";
import { upstream } from "./upstream.ts";

/** Node as the core sees it. */
export function nodeHost(parts: {
  record: DeploymentRecord;
  sql: NodeSql;
  ownUrl: () => string;
  copyTo?: TrajectoryCopy;
  changes?: Changelog;
  observer?: Observer;
}): Host {
  const { record, sql, ownUrl, copyTo, changes, observer } = parts;
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return {
    sql,
    // WAL with synchronous=NORMAL: a committed transaction survives a kill of the process
    committed: () => undefined,
    soon: (work) => void setImmediate(work),
    background: (work) => void work.catch((error: unknown) => log(bugLine(error))),
    upstream,
    upgrade,
    decode,
    record: () => record,
    ownUrl,
    ...(copyTo === undefined ? {} : { copyTo }),
    ...(changes === undefined ? {} : { changes }),
    ...(observer === undefined ? {} : { observer }),
    log,
  };
}
