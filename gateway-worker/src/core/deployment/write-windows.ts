import { isJsonObject, type JsonObject, jsonOf } from "@agent-env/protocol";
import type { ChangeRow, Sql } from "../seam.ts";
import type { Trajectory } from "./trajectory.ts";

/** Changelog ids around something that may have written: rows behind `before`, up to `after`. */
export type Window = { readonly before: number | null; readonly after: number | null };

/** A change, and everything that may have made it. */
export type Change = ChangeRow & { readonly actors: readonly JsonObject[] };

/** Who may have written what: each call and request during which the changelog grew (3-wire §changes). */
export class WriteWindows {
  readonly #trajectory: Trajectory;
  readonly #sql: Sql;

  constructor(trajectory: Trajectory, sql: Sql) {
    this.#trajectory = trajectory;
    this.#sql = sql;
  }

  /** Keeps a window, under the number of the event that has just been appended for its end. One in which nothing was written is none. */
  add(n: number, { before, after }: Window, actor: JsonObject): void {
    if (before === null || after === null || after <= before) return;
    const insert = "INSERT INTO write_windows (n, before_id, after_id, actor) VALUES (?, ?, ?, ?)";
    this.#trajectory.alongside(() => void this.#sql.exec(insert, n, before, after, JSON.stringify(actor)));
  }

  /** The rows with their actors, in the order in which these ended. */
  attributed(rows: readonly ChangeRow[]): Change[] {
    const first = rows[0]?.id ?? 0;
    const last = rows.at(-1)?.id ?? 0;
    const query = "SELECT before_id, after_id, actor FROM write_windows WHERE after_id >= ? AND before_id < ? ORDER BY n";
    const windows = this.#sql.exec(query, first, last).map((row) => ({
      before: Number(row["before_id"]),
      after: Number(row["after_id"]),
      actor: jsonOf(String(row["actor"])),
    }));
    return rows.map((row) => {
      const holding = windows.filter(({ before, after }) => before < row.id && row.id <= after);
      return { ...row, actors: holding.map(({ actor }) => actor).filter(isJsonObject) };
    });
  }
}
