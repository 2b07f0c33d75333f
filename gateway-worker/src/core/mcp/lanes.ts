import { inBackground } from "../background.ts";
import type { Host } from "../seam.ts";
import { type OpenSession, UpstreamSession, type Wire } from "./upstream-session.ts";

const IDLE_MS = 600_000;
const SWEEP_MS = 60_000;
/** Sessions with one server at a time. Roles are free to choose in an open deployment: without a bound they would fill it. */
const MAX_LANES = 1_000;

type Lane = { readonly session: UpstreamSession; usedMs: number; users: number };

/** A caller's session while it is used: until then it isn't ended for being idle. */
export type TakenLane = { readonly session: UpstreamSession; give(): void };

/** The upstream sessions of all callers with one server. None is shared between callers; all survive a restart. */
export class Lanes {
  readonly #host: Host;
  readonly #server: string;
  readonly #wire: Wire;
  readonly #now: () => number;
  /** By caller, the longest unused first. */
  readonly #lanes = new Map<string, Lane>();
  #sweptMs = 0;

  constructor(options: { host: Host; server: string; wire: Wire; now: () => number }) {
    this.#host = options.host;
    this.#server = options.server;
    this.#wire = options.wire;
    this.#now = options.now;
    const rows = this.#host.sql.exec("SELECT caller, id, version FROM upstream_sessions WHERE server = ?", this.#server);
    for (const { caller, id, version } of rows) {
      const stored = { id: typeof id === "string" ? id : undefined, version: String(version) };
      this.#lanes.set(String(caller), { session: this.#session(String(caller), stored), usedMs: this.#now(), users: 0 });
    }
  }

  /** A caller's session with the server, opened when it is first used. To be given back. */
  take(caller: string): TakenLane {
    const lane = this.#lanes.get(caller) ?? { session: this.#session(caller, null), usedMs: 0, users: 0 };
    lane.users++;
    this.#touch(caller, lane);
    this.#sweep();
    return {
      session: lane.session,
      give: () => {
        lane.users--;
        if (this.#lanes.get(caller) === lane) this.#touch(caller, lane);
      },
    };
  }

  /** Ends a caller's session at the server. */
  end(caller: string): void {
    const lane = this.#lanes.get(caller);
    if (lane === undefined) return;
    this.#lanes.delete(caller);
    inBackground(this.#host, lane.session.close());
  }

  #session(caller: string, stored: OpenSession | null): UpstreamSession {
    const { sql } = this.#host;
    return new UpstreamSession(this.#wire, stored, (session) => {
      if (session === null) sql.exec("DELETE FROM upstream_sessions WHERE caller = ? AND server = ?", caller, this.#server);
      else
        sql.exec(
          "INSERT OR REPLACE INTO upstream_sessions (caller, server, id, version) VALUES (?, ?, ?, ?)",
          caller,
          this.#server,
          session.id ?? null,
          session.version,
        );
    });
  }

  #touch(caller: string, lane: Lane): void {
    lane.usedMs = this.#now();
    this.#lanes.delete(caller);
    this.#lanes.set(caller, lane);
  }

  /** Ends what nobody has used for ten minutes, and the longest unused of too many. What is in use goes on. */
  #sweep(): void {
    const now = this.#now();
    if (this.#lanes.size <= MAX_LANES && now - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = now;
    for (const [caller, lane] of this.#lanes) {
      if (now - lane.usedMs <= IDLE_MS && this.#lanes.size <= MAX_LANES) break;
      if (lane.users === 0) this.end(caller);
    }
  }
}
