import type { DeploymentRecord } from "@agent-env/protocol";
import type { Host } from "../../core/seam.ts";
import { decode } from "../decode.ts";
import type { NodeSql } from "./sql.ts";
import { upgrade } from "./upgrade.ts";
import { upstream } from "./upstream.ts";

/** Node as the core sees it. */
export function nodeHost(record: DeploymentRecord, sql: NodeSql): Host {
  return {
    sql,
    // WAL with synchronous=NORMAL: a committed transaction survives a kill of the process
    committed: () => undefined,
    background: (work) => void work,
    upstream,
    upgrade,
    decode,
    record: () => record,
    log: (line) => void process.stderr.write(`${line}\n`),
  };
}
