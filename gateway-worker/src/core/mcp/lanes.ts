import { inBackground } from "../background.ts";
import type { Host } from "../seam.ts";
import { UpstreamSession, type Wire } from "./upstream-session.ts";

const IDLE_MS = 600_000;
const SWEEP_MS = 60_000;

type Lane = { readonly session: UpstreamSession; usedMs: number };

/** The upstream sessions of all callers with one server. None is shared between callers; all survive a restart. */
export class Lanes {
  readonly #host: Host;
  readonly #server: string;
  readonly #wire: Wire;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  #sweptMs = 0;

  constructor(options: { host: Host; server: string; wire: Wire; now: () => number }) {
    this.#host = options.host;
    this.#server = options.server;
    this.#wire = options.wire;
    this.#now = options.now;
  }

  /** A caller's session with the server, opened when it is first used. */
  of(caller: string): UpstreamSession {
    this.#sweep();
    const lane = this.#lanes.get(caller) ?? { session: this.#restored(caller), usedMs: 0 };
    lane.usedMs = this.#now();
    this.#lanes.set(caller, lane);
    return lane.session;
  }

  /** Ends a caller's session at the server. */
  end(caller: string): void {
    const session = this.#lanes.get(caller)?.session ?? this.#restored(caller);
    this.#lanes.delete(caller);
    inBackground(this.#host, session.close());
  }

  #restored(caller: string): UpstreamSession {
    const { sql } = this.#host;
    const row = sql.exec("SELECT id, version FROM upstream_sessions WHERE caller = ? AND server = ?", caller, this.#server)[0];
    const id = row?.["id"];
    const stored = row === undefined ? null : { id: typeof id === "string" ? id : undefined, version: String(row["version"]) };
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

  /** Ends what nobody has used for ten minutes. */
  #sweep(): void {
    const now = this.#now();
    if (now - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = now;
    for (const [caller, lane] of this.#lanes) if (now - lane.usedMs > IDLE_MS) this.end(caller);
  }
}
