import type { Row, Sql, SqlValue } from "../../core/seam.ts";

/** A deployment's database in its object's storage. */
export function workersSql(storage: DurableObjectStorage): Sql {
  return {
    exec: (query: string, ...values: SqlValue[]): Row[] => storage.sql.exec<Record<string, SqlValue>>(query, ...values).toArray(),
    transaction: (write) => storage.transactionSync(write),
  };
}
