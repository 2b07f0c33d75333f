import { isJsonObject, type JsonObject, parseJson } from "@agent-env/protocol";
import type { Row, Sql } from "../seam.ts";
import { NOTHING } from "./capabilities.ts";

/** Callers make tasks at will: the oldest of too many are forgotten, of one caller and of all. */
const MOST = { ofCaller: 1_000, ofAll: 10_000 };

/** Under whose name a task is kept, and in which upstream session it was made: some servers know it in no other. */
export type TaskOwner = { readonly caller: string; readonly lane: string; readonly capabilities: JsonObject };
/** A task that a server has issued. */
export type Task = TaskOwner & {
  readonly server: string;
  /** The server's own id. */
  readonly id: string;
  /** The id under which its caller knows it: the same, unless another server has issued that, too. */
  readonly shown: string;
  /** For how long the server keeps it, in ms; null for one that doesn't say. */
  readonly ttlMs: number | null;
};

/** Which server issued a task, by caller: kept over restarts, as long as the task is. */
export class TaskBook {
  readonly #sql: Sql;
  readonly #now: () => number;
  /** For how long a task without a time of its own is remembered, since it was last asked for. */
  readonly #idleMs: number;
  readonly #most: typeof MOST;

  constructor(options: { sql: Sql; now: () => number; idleMs: number; most?: typeof MOST }) {
    this.#sql = options.sql;
    this.#now = options.now;
    this.#idleMs = options.idleMs;
    this.#most = options.most ?? MOST;
  }

  /** A server has issued a task. Of one id from two servers the first keeps it; the other's is shown with its server's name. */
  issued(task: Omit<Task, "shown">): Task {
    this.#sql.exec("DELETE FROM tasks WHERE expires < ?", this.#now());
    const { caller, server, id } = task;
    const other = this.find(caller, id);
    const whole = { ...task, shown: other === null || other.server === server ? id : `${server}__${id}` };
    this.#insert(whole);
    this.#dropOldest(caller);
    return whole;
  }

  /** The server still knows a task: it is remembered for as long again. */
  renew({ caller, shown, server }: Task, ttlMs: number | null): void {
    const set = "UPDATE tasks SET ttl = ?, expires = ? WHERE caller = ? AND shown = ? AND server = ?";
    this.#sql.exec(set, ttlMs, this.#expiry(ttlMs), caller, shown, server);
  }

  /** A caller's task; null for one that is unknown to this caller, or has expired. */
  find(caller: string, shown: string): Task | null {
    const row = this.#sql.exec("SELECT * FROM tasks WHERE caller = ? AND shown = ? AND expires >= ?", caller, shown, this.#now())[0];
    return row === undefined ? null : taskOf(row);
  }

  /** All of a caller's tasks at one server, the oldest first. */
  of(caller: string, server: string): Task[] {
    const asked = "SELECT * FROM tasks WHERE caller = ? AND server = ? AND expires >= ? ORDER BY n";
    return this.#sql.exec(asked, caller, server, this.#now()).map(taskOf);
  }

  /** Whether an upstream session has tasks that would be lost with it. */
  isNeeded(server: string, lane: string): boolean {
    const asked = "SELECT 1 FROM tasks WHERE server = ? AND lane = ? AND expires >= ? LIMIT 1";
    return this.#sql.exec(asked, server, lane, this.#now()).length > 0;
  }

  /** A caller is gone. */
  forget(caller: string): void {
    this.#sql.exec("DELETE FROM tasks WHERE caller = ?", caller);
  }

  #insert({ caller, shown, server, id, lane, capabilities, ttlMs }: Task): void {
    this.#sql.exec("DELETE FROM tasks WHERE caller = ? AND shown = ?", caller, shown);
    this.#sql.exec(
      "INSERT INTO tasks (caller, shown, server, id, lane, capabilities, ttl, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ...[caller, shown, server, id, lane, JSON.stringify(capabilities), ttlMs, this.#expiry(ttlMs)],
    );
  }

  #expiry(ttlMs: number | null): number {
    return this.#now() + (ttlMs ?? this.#idleMs);
  }

  #dropOldest(caller: string): void {
    const oldest = "SELECT n FROM tasks WHERE caller = ? ORDER BY n DESC LIMIT 1 OFFSET ?";
    const last = this.#sql.exec(oldest, caller, this.#most.ofCaller)[0]?.["n"];
    if (last !== undefined) this.#sql.exec("DELETE FROM tasks WHERE caller = ? AND n <= ?", caller, last);
    const tooMany = Number(this.#sql.exec("SELECT count(*) AS count FROM tasks")[0]?.["count"]) - this.#most.ofAll;
    if (tooMany > 0) this.#sql.exec("DELETE FROM tasks WHERE n IN (SELECT n FROM tasks ORDER BY n LIMIT ?)", tooMany);
  }
}

function taskOf(row: Row): Task {
  const capabilities = parseJson(String(row["capabilities"]));
  const ttlMs = row["ttl"];
  return {
    caller: String(row["caller"]),
    shown: String(row["shown"]),
    server: String(row["server"]),
    id: String(row["id"]),
    lane: String(row["lane"]),
    capabilities: isJsonObject(capabilities) ? capabilities : NOTHING,
    ttlMs: typeof ttlMs === "number" ? ttlMs : null,
  };
}
