import type { DeploymentRecord } from "@agent-env/protocol";
import type { Host } from "../../core/seam.ts";
import { bugLine } from "../bug.ts";
import { decode } from "../decode.ts";
import type { NodeSql } from "./sql.ts";
import { upgrade } from "./upgrade.ts";
import { upstream } from "./upstream.ts";

/** Node as the core sees it. */
export function nodeHost(record: DeploymentRecord, sql: NodeSql): Host {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return {
    sql,
    // WAL with synchronous=NORMAL: a committed transaction survives a kill of the process
    committed: () => undefined,
    background: (work) => void work.catch((error: unknown) => log(bugLine(error))),
    upstream,
    upgrade,
    decode,
    record: () => record,
    log,
  };
}
