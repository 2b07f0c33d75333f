import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Row, Sql, SqlValue } from "../../core/seam.ts";

/** A deployment's database in a file. What was written survives a kill of the process, though not a power cut. */
export class NodeSql implements Sql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** `path` may be `:memory:`. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000");
  }

  exec(query: string, ...values: SqlValue[]): Row[] {
    return this.#statement(query)
      .all(...values)
      .map((row) => row as Row);
  }

  transaction(write: () => void): void {
    this.#statement("BEGIN").run();
    try {
      write();
    } catch (error) {
      this.#statement("ROLLBACK").run();
      throw error;
    }
    this.#statement("COMMIT").run();
  }

  close(): void {
    this.#database.close();
  }

  #statement(query: string): StatementSync {
    const known = this.#statements.get(query);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(query);
    this.#statements.set(query, statement);
    return statement;
  }
}
