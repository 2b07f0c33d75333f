import type { JsonObject } from "@agent-env/protocol";
import { inBackground, logBug } from "../background.ts";
import type { Host } from "../seam.ts";
import type { Clock } from "./clock.ts";
import { isoTime } from "./state.ts";

/** A row of a Durable Object's database may have 2 MB, and a character of a text three bytes. */
const LONGEST_PIECE = 600_000;
/** How long an event waits for another. */
const MOMENT_MS = 20;
/** Events read at once: each may be as long as a row. */
const PAGE = 20;

type Row = { readonly n: number; readonly text: string };

/**
 * What has happened, one event a line (3-wire §trajectory). What arrives while a group is being written is the next group; whoever
 * answers a caller waits for `committed` first.
 */
export class Trajectory {
  readonly #host: Host;
  readonly #now: () => number;
  readonly #clock: Clock;
  #last: number;
  #waiting: Row[] = [];
  #besides: (() => void)[] = [];
  #isLate = false;
  #group: PromiseWithResolvers<void> | null = null;
  #committed: Promise<void> = Promise.resolve();

  constructor(options: { host: Host; now: () => number; clock: Clock }) {
    const { host } = options;
    this.#host = host;
    this.#now = options.now;
    this.#clock = options.clock;
    this.#last = Number(host.sql.exec("SELECT max(n) AS n FROM trajectory")[0]?.["n"] ?? 0);
    host.copyTo?.begin(this.lines(0, Number.POSITIVE_INFINITY));
  }

  /** Writes an event down. Gives its number; its id is `event_<number>`. */
  append(event: JsonObject): number {
    const n = this.#add(event);
    this.#start();
    return n;
  }

  /**
   * Writes an event down that nobody waits for yet: with the next one, if that comes within a moment. So a call that is soon
   * over costs one write.
   */
  appendWithNext(event: JsonObject): number {
    const n = this.#add(event);
    if (this.#group === null && !this.#isLate) {
      this.#isLate = true;
      setTimeout(() => {
        this.#isLate = false;
        if (this.#waiting.length > 0) this.#start();
      }, MOMENT_MS);
    }
    return n;
  }

  #add(event: JsonObject): number {
    const n = ++this.#last;
    const virtual = this.#clock.written();
    const stamped = { ...event, event_id: eventId(n), timestamp_utc: isoTime(this.#now()) };
    this.#waiting.push({ n, text: JSON.stringify(virtual === null ? stamped : { ...stamped, virtual_time: virtual }) });
    return n;
  }

  /** Has something written in the group that the last event is in. */
  alongside(write: () => void): void {
    if (this.#group === null) throw new Error("nothing waits to be written");
    this.#besides.push(write);
  }

  /** Done when what was appended before survives a kill. */
  committed(): Promise<void> {
    if (this.#waiting.length > 0) this.#start();
    return this.#committed;
  }

  /** The number of the last event. */
  get last(): number {
    return this.#last;
  }

  /** The bytes of all that is written down, as `/trajectory` gives it. */
  totalBytes(): number {
    const sum = (table: string) => Number(this.#host.sql.exec(`SELECT sum(length(CAST(text AS BLOB))) AS n FROM ${table}`)[0]?.["n"] ?? 0);
    return sum("trajectory") + sum("trajectory_rest") + Number(this.#host.sql.exec("SELECT count(*) AS n FROM trajectory")[0]?.["n"] ?? 0);
  }

  /** The events behind number `after` that are written down, a page of lines at a time. */
  *lines(after: number, limit: number): Generator<string> {
    const end = Number(this.#host.sql.exec("SELECT max(n) AS n FROM trajectory")[0]?.["n"] ?? 0);
    for (let from = after, left = limit; left > 0; ) {
      const query = "SELECT n, text, pieces FROM trajectory WHERE n > ? AND n <= ? ORDER BY n LIMIT ?";
      const rows = this.#host.sql.exec(query, from, end, Math.min(PAGE, left));
      if (rows.length === 0) return;
      yield rows.map((row) => `${row["text"]}${row["pieces"] === 1 ? "" : this.#rest(Number(row["n"]))}\n`).join("");
      from = Number(rows.at(-1)?.["n"]);
      left -= rows.length;
    }
  }

  #rest(n: number): string {
    const pieces = this.#host.sql.exec("SELECT text FROM trajectory_rest WHERE n = ? ORDER BY piece", n);
    return pieces.map(({ text }) => text).join("");
  }

  /** Begins a group: it holds what has been waiting, and what still comes before it is written. */
  #start(): void {
    if (this.#group !== null) return;
    this.#group = Promise.withResolvers();
    this.#committed = this.#group.promise;
    this.#host.soon(() => this.#write());
  }

  /** An event that can't be written costs no call: it is said in the log. */
  #write(): void {
    const rows = this.#waiting;
    const group = this.#group;
    const besides = this.#besides;
    this.#waiting = [];
    this.#besides = [];
    this.#group = null;
    const written = (): void => {
      this.#host.copyTo?.append(rows.map(({ text }) => `${text}\n`).join(""));
      group?.resolve();
    };
    const failed = (error: unknown): void => {
      this.#host.log(`${rows.length} events of the trajectory are lost:`);
      logBug(this.#host, error);
      group?.resolve();
    };
    try {
      this.#host.sql.transaction(() => {
        for (const row of rows) this.#insert(row);
        for (const write of besides) write();
      });
      const committing = this.#host.committed();
      if (committing === undefined) written();
      else inBackground(this.#host, committing.then(written, failed));
    } catch (error) {
      failed(error);
    }
  }

  #insert({ n, text }: Row): void {
    const [first = "", ...rest] = text.length <= LONGEST_PIECE ? [text] : pieces(text);
    this.#host.sql.exec("INSERT INTO trajectory (n, text, pieces) VALUES (?, ?, ?)", n, first, rest.length + 1);
    for (const [at, piece] of rest.entries())
      this.#host.sql.exec("INSERT INTO trajectory_rest (n, piece, text) VALUES (?, ?, ?)", n, at, piece);
  }
}

/** The id of an event. */
export function eventId(n: number): string {
  return `event_${n}`;
}

/** A text in pieces that a row can hold, none of which ends between the halves of a character. */
function pieces(text: string): string[] {
  const cut: string[] = [];
  for (let from = 0; from < text.length; ) {
    const at = from + LONGEST_PIECE;
    const end = /[\ud800-\udbff]/.test(text[at - 1] ?? "") ? at - 1 : at;
    cut.push(text.slice(from, end));
    from = end;
  }
  return cut;
}
