import type { Sql } from "../seam.ts";

/** What a deployment remembers. Statements are only ever added: the tables of an older gateway are read as they are. */
const TABLES = [
  `CREATE TABLE IF NOT EXISTS secrets (n INTEGER PRIMARY KEY, secret TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS sessions (key TEXT PRIMARY KEY, used INTEGER NOT NULL, closed INTEGER NOT NULL DEFAULT 0)`,
  `CREATE INDEX IF NOT EXISTS sessions_by_use ON sessions (closed, used)`,
  `CREATE TABLE IF NOT EXISTS upstream_sessions (caller TEXT, server TEXT, id TEXT, version TEXT NOT NULL, PRIMARY KEY (caller, server))`,
  `CREATE TABLE IF NOT EXISTS cards (server TEXT PRIMARY KEY, card TEXT)`,
  `CREATE TABLE IF NOT EXISTS reserved (server TEXT, path TEXT, PRIMARY KEY (server, path))`,
  `CREATE TABLE IF NOT EXISTS server_lists (server TEXT, kind TEXT, items TEXT NOT NULL, PRIMARY KEY (server, kind))`,
  `CREATE TABLE IF NOT EXISTS log_levels (session TEXT PRIMARY KEY, level TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS subscriptions (session TEXT, uri TEXT, server TEXT NOT NULL, PRIMARY KEY (session, uri))`,
  `CREATE TABLE IF NOT EXISTS role_rules (role TEXT, tool TEXT, enabled INTEGER NOT NULL, PRIMARY KEY (role, tool))`,
  `CREATE TABLE IF NOT EXISTS trajectory (n INTEGER PRIMARY KEY, text TEXT NOT NULL, pieces INTEGER NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS trajectory_rest (n INTEGER, piece INTEGER, text TEXT NOT NULL, PRIMARY KEY (n, piece))`,
  `CREATE TABLE IF NOT EXISTS used_pages (id TEXT PRIMARY KEY, expires INTEGER NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS write_windows (n INTEGER PRIMARY KEY, before_id INTEGER NOT NULL, after_id INTEGER NOT NULL, actor TEXT NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS write_windows_by_end ON write_windows (after_id)`,
  `CREATE TABLE IF NOT EXISTS triggers (id TEXT PRIMARY KEY, spec TEXT NOT NULL, state TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS trigger_fires (n INTEGER PRIMARY KEY, trigger_id TEXT NOT NULL, fire TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS trigger_events (seq INTEGER PRIMARY KEY, event TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS tasks (n INTEGER PRIMARY KEY, caller TEXT NOT NULL, shown TEXT NOT NULL, server TEXT NOT NULL, id TEXT NOT NULL, lane TEXT NOT NULL, capabilities TEXT NOT NULL, ttl INTEGER, expires INTEGER NOT NULL, UNIQUE (caller, shown))`,
  `CREATE INDEX IF NOT EXISTS tasks_by_caller ON tasks (caller)`,
  `CREATE INDEX IF NOT EXISTS tasks_by_lane ON tasks (server, lane)`,
  `CREATE INDEX IF NOT EXISTS tasks_by_expiry ON tasks (expires)`,
  `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
];

/** Makes what isn't there yet. */
export function prepareTables(sql: Sql): void {
  sql.transaction(() => {
    for (const table of TABLES) sql.exec(table);
  });
}
