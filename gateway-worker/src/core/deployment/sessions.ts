import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { z } from "zod";
import { type Caller, ownerOfRole } from "../auth/caller.ts";
import { NOTHING } from "../mcp/capabilities.ts";
import type { Sql } from "../seam.ts";
import type { Vault } from "./vault.ts";

/** The time of last use is written down at most this often. */
const USE_WRITTEN_MS = 60_000;

/** An inbound session: what its sealed id holds. */
export type Session = {
  /** 32 hex digits: what servers see as `agentenv.io/session`. */
  readonly key: string;
  readonly role: string;
  /** The caller that opened it. */
  readonly owner: string;
  readonly version: string;
  /** What the client declared that it can do. */
  readonly capabilities: JsonObject;
};

/** `[key, deployment, role, owner, version, capabilities]`: short, since the whole id may have 512 characters. No owner: its role. */
const SealedSession = z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.unknown()]);
/** What a sealed id of 512 characters has room for. */
const LONGEST_SEALED = 350;

type Known = { readonly session: Session; usedMs: number; writtenMs: number };

/**
 * The sessions of one deployment. An id is a sealed box, so an id of before a restart goes on; only what can't be in it (last
 * use, closed) is a row.
 */
export class Sessions {
  readonly #sql: Sql;
  readonly #vault: Vault;
  readonly #deployment: string;
  readonly #idleMs: number;
  readonly #most: number;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  /** By key, as the table has them: every call asks. */
  readonly #levels = new Map<string, string | null>();
  #count: number;

  constructor(options: { sql: Sql; vault: Vault; deployment: string; idleMs: number; most: number; now: () => number }) {
    this.#sql = options.sql;
    this.#vault = options.vault;
    this.#deployment = options.deployment;
    this.#idleMs = options.idleMs;
    this.#most = options.most;
    this.#now = options.now;
    this.#sql.exec("DELETE FROM sessions WHERE used < ?", this.#now() - this.#idleMs);
    for (const table of ["log_levels", "subscriptions"])
      this.#sql.exec(`DELETE FROM ${table} WHERE session NOT IN (SELECT key FROM sessions)`);
    this.#count = Number(this.#sql.exec("SELECT count(*) AS n FROM sessions")[0]?.["n"] ?? 0);
  }

  /** A new session and the id that its client gets. */
  async create(
    by: Pick<Caller, "role" | "owner">,
    version: string,
    declared: JsonObject = NOTHING,
  ): Promise<{ id: string; session: Session }> {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const key = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const { role, owner } = by;
    const sealedOwner = owner === ownerOfRole(role) ? "" : owner;
    const [text, capabilities] = sealedText([key, this.#deployment, role, sealedOwner, version], declared);
    const session = { key, role, owner, version, capabilities };
    const id = await this.#vault.seal(text);
    const usedMs = this.#now();
    this.#sql.exec("INSERT INTO sessions (key, used) VALUES (?, ?)", key, usedMs);
    this.#count++;
    if (this.#count > this.#most) this.#endLongestIdle();
    this.#remember(id, { session, usedMs, writtenMs: usedMs });
    return { id, session };
  }

  /** The session of an id, if it is alive and this caller's. A foreign id is as unknown as a random one. */
  async find(id: string, by: Pick<Caller, "owner" | "isNamed">): Promise<Session | null> {
    const known = this.#known.get(id) ?? (await this.#read(id));
    if (known === null || this.#now() - known.usedMs > this.#idleMs) return null;
    if (by.isNamed && by.owner !== known.session.owner) return null;
    this.#use(known);
    return known.session;
  }

  /** Ends a session. Its id is unknown from now on. */
  close(session: Session): void {
    this.#sql.exec("UPDATE sessions SET closed = 1 WHERE key = ?", session.key);
    this.#forget(session.key);
    for (const [id, known] of this.#known) if (known.session.key === session.key) this.#known.delete(id);
  }

  /** The least log level that a session has asked for; null if it never did. */
  level({ key }: Session): string | null {
    const known = this.#levels.get(key);
    if (known !== undefined) return known;
    const stored = this.#sql.exec("SELECT level FROM log_levels WHERE session = ?", key)[0]?.["level"];
    const level = typeof stored === "string" ? stored : null;
    this.#levels.set(key, level);
    const [oldest] = this.#levels.keys();
    if (this.#levels.size > this.#most && oldest !== undefined) this.#levels.delete(oldest);
    return level;
  }

  /** Keeps a session's log level. */
  setLevel({ key }: Session, level: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO log_levels (session, level) VALUES (?, ?)", key, level);
    this.#levels.delete(key);
  }

  async #read(id: string): Promise<Known | null> {
    const text = await this.#vault.open(id);
    const sealed = text === null ? null : SealedSession.safeParse(JSON.parse(text)).data;
    if (sealed === null || sealed === undefined) return null;
    const [key, deployment, role, sealedOwner, version, declared] = sealed;
    const owner = sealedOwner === "" ? ownerOfRole(role) : sealedOwner;
    const capabilities = isJsonObject(declared) ? declared : NOTHING;
    const row = this.#sql.exec("SELECT used, closed FROM sessions WHERE key = ?", key)[0];
    if (row === undefined || row["closed"] !== 0 || deployment !== this.#deployment) return null;
    const usedMs = Number(row["used"]);
    return this.#remember(id, { session: { key, role, owner, version, capabilities }, usedMs, writtenMs: usedMs });
  }

  #remember(id: string, known: Known): Known {
    this.#known.set(id, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#most && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }

  #use(known: Known): void {
    known.usedMs = this.#now();
    if (known.usedMs - known.writtenMs < USE_WRITTEN_MS) return;
    known.writtenMs = known.usedMs;
    this.#sql.exec("UPDATE sessions SET used = ? WHERE key = ?", known.usedMs, known.session.key);
  }

  #endLongestIdle(): void {
    const row = this.#sql.exec("SELECT key FROM sessions ORDER BY closed DESC, used LIMIT 1")[0];
    const key = String(row?.["key"]);
    this.#sql.exec("DELETE FROM sessions WHERE key = ?", key);
    this.#forget(key);
    this.#count--;
    for (const [id, known] of this.#known) if (known.session.key === key) this.#known.delete(id);
  }

  #forget(key: string): void {
    this.#levels.delete(key);
    for (const table of ["log_levels", "subscriptions"]) this.#sql.exec(`DELETE FROM ${table} WHERE session = ?`, key);
  }
}

/** What an id holds, and the capabilities that there was room for. */
function sealedText(parts: readonly string[], declared: JsonObject): [string, JsonObject] {
  const withAll = JSON.stringify([...parts, declared]);
  if (new TextEncoder().encode(withAll).length <= LONGEST_SEALED) return [withAll, declared];
  return [JSON.stringify([...parts, NOTHING]), NOTHING];
}
