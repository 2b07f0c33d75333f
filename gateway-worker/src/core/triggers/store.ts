import { isJsonObject, type JsonObject, jsonOf, parseJson } from "@agent-env/protocol";
import type { Sql } from "../seam.ts";
import { TriggerSpec } from "./spec.ts";
import { type Fire, NO_CONFIG, newTrigger, type Trigger, type TriggerConfig } from "./trigger.ts";

/** A row of a Durable Object's database may have 2 MB: of a fire whose call said more, the result isn't kept. */
const LONGEST_FIRE = 600_000;
/** Of the events the first and the last are kept. */
const FIRST_EVENTS = 1_000;
const LAST_EVENTS = 9_000;

/** What triggers remember, in the deployment's database. */
export class TriggerStore {
  readonly #sql: Sql;
  #lastEvent: number;
  #lastFire: number;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#lastEvent = Number(sql.exec("SELECT max(seq) AS n FROM trigger_events")[0]?.["n"] ?? 0);
    this.#lastFire = Number(sql.exec("SELECT max(n) AS n FROM trigger_fires")[0]?.["n"] ?? 0);
  }

  /** What was said once for all triggers. */
  config(): TriggerConfig {
    const stored = this.#sql.exec("SELECT value FROM facts WHERE name = 'triggers'")[0]?.["value"];
    return typeof stored === "string" ? JSON.parse(stored) : NO_CONFIG;
  }

  saveConfig(config: TriggerConfig): void {
    this.#sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES ('triggers', ?)", JSON.stringify(config));
  }

  /** All triggers in the order of their registration, with their fires. */
  triggers(): Trigger[] {
    return this.#sql.exec("SELECT id, spec, state FROM triggers ORDER BY rowid").flatMap(({ id, spec, state }) => {
      const raw = parseJson(String(spec));
      const parsed = TriggerSpec.safeParse(raw);
      if (!isJsonObject(raw) || !parsed.success) return [];
      const trigger = newTrigger(String(id), raw, parsed.data);
      Object.assign(trigger.state, jsonOf(String(state)));
      const fires = this.#sql.exec("SELECT fire FROM trigger_fires WHERE trigger_id = ? ORDER BY n", trigger.id);
      // of our own writing
      trigger.fires.push(...fires.map(({ fire }) => parseJson(String(fire)) as Fire));
      return [trigger];
    });
  }

  /** Triggers that are new, all or none. */
  add(triggers: readonly Trigger[]): void {
    this.#sql.transaction(() => {
      for (const { id, raw, state } of triggers)
        this.#sql.exec("INSERT INTO triggers (id, spec, state) VALUES (?, ?, ?)", id, JSON.stringify(raw), JSON.stringify(state));
    });
  }

  save({ id, state }: Trigger): void {
    this.#sql.exec("UPDATE triggers SET state = ? WHERE id = ?", JSON.stringify(state), id);
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM triggers WHERE id = ?", id);
    this.#sql.exec("DELETE FROM trigger_fires WHERE trigger_id = ?", id);
  }

  clear(): void {
    this.#sql.transaction(() => {
      for (const table of ["triggers", "trigger_fires", "trigger_events"]) this.#sql.exec(`DELETE FROM ${table}`);
      this.#sql.exec("DELETE FROM facts WHERE name = 'triggers'");
    });
    this.#lastEvent = 0;
  }

  /** The number of a new fire. */
  nextFire(): number {
    return ++this.#lastFire;
  }

  saveFire({ id }: Trigger, fire: Fire): void {
    const whole = JSON.stringify(fire);
    const text = whole.length <= LONGEST_FIRE ? whole : JSON.stringify({ ...fire, args: null, result: null });
    this.#sql.exec("INSERT OR REPLACE INTO trigger_fires (n, trigger_id, fire) VALUES (?, ?, ?)", fire.n, id, text);
  }

  removeFire({ n }: Fire): void {
    this.#sql.exec("DELETE FROM trigger_fires WHERE n = ?", n);
  }

  /** Writes an event down. */
  event(event: JsonObject): void {
    const seq = ++this.#lastEvent;
    this.#sql.exec("INSERT INTO trigger_events (seq, event) VALUES (?, ?)", seq, JSON.stringify({ seq, ...event }));
    const dropped = seq - LAST_EVENTS;
    if (dropped > FIRST_EVENTS) this.#sql.exec("DELETE FROM trigger_events WHERE seq > ? AND seq <= ?", FIRST_EVENTS, dropped);
  }

  events(): { readonly events: unknown[]; readonly events_dropped: number } {
    const rows = this.#sql.exec("SELECT event FROM trigger_events ORDER BY seq");
    return { events: rows.map(({ event }) => jsonOf(String(event))), events_dropped: this.#lastEvent - rows.length };
  }
}
