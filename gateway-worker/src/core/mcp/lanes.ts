import type { JsonObject } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Host } from "../seam.ts";
import { NOTHING } from "./capabilities.ts";
import type { Ask, Wire } from "./channel.ts";
import { type OpenSession, UpstreamSession } from "./upstream-session.ts";
import { Watch } from "./watch.ts";

const IDLE_MS = 600_000;
const SWEEP_MS = 60_000;
/** Sessions with one server at a time. Roles are free to choose in an open deployment: without a bound they would fill it. */
const MAX_LANES = 1_000;

type Lane = {
  readonly session: UpstreamSession;
  readonly watch: Watch;
  usedMs: number;
  users: number;
  /** Answers what the server asks in it outside of any request: set while one call has it to itself. */
  asked: Ask["asked"];
};

/** A caller's session while it is used: until then it isn't ended for being idle. */
export type TakenLane = { readonly session: UpstreamSession; readonly watch: Watch; give(): void };

export type LanesOptions = {
  readonly host: Host;
  readonly server: string;
  readonly wire: Wire;
  readonly now: () => number;
  /** What the server says to a caller outside of any call. */
  readonly heard: (caller: string, message: JsonObject) => void;
  /** What it asks a caller outside of any call, where that can be asked now. */
  readonly asked: (caller: string) => Ask["asked"];
  /** Whether a session has something at the server that would be lost with it. */
  readonly isNeeded: (key: string) => boolean;
};

/** The upstream sessions of all callers with one legacy server. None is shared between callers; all survive a restart. */
export class Lanes {
  readonly #options: LanesOptions;
  /** By caller, the longest unused first. */
  readonly #lanes = new Map<string, Lane>();
  /** Of before a restart, until their callers come back, or until they are idle too long. */
  readonly #stored = new Map<string, OpenSession>();
  readonly #startedMs: number;
  #sweptMs: number;

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#startedMs = options.now();
    this.#sweptMs = this.#startedMs;
    const { host, server } = options;
    for (const { caller, id, version } of host.sql.exec("SELECT caller, id, version FROM upstream_sessions WHERE server = ?", server))
      this.#stored.set(String(caller), { id: typeof id === "string" ? id : undefined, version: String(version) });
  }

  /** A caller's session with the server, opened when it is first used. To be given back. */
  take(caller: string, capabilities: JsonObject): TakenLane {
    const lane = this.#lanes.get(caller) ?? this.#newLane(caller, capabilities);
    lane.users++;
    this.#touch(caller, lane);
    this.#sweep();
    return {
      session: lane.session,
      watch: lane.watch,
      give: () => {
        lane.users--;
        if (this.#lanes.get(caller) === lane) this.#touch(caller, lane);
      },
    };
  }

  /**
   * A session that nobody else uses meanwhile: what the server asks in it can only be about this call, and `asked` answers
   * that, wherever the server asks it. Many servers do so on their notification stream.
   */
  takeAlone(caller: string, capabilities: JsonObject, asked: Ask["asked"]): TakenLane {
    for (let n = 1; ; n++) {
      const key = n === 1 ? caller : `${caller} ${n}`;
      if ((this.#lanes.get(key)?.users ?? 0) > 0) continue;
      const taken = this.take(key, capabilities);
      const lane = this.#lanes.get(key);
      if (lane === undefined) return taken;
      lane.asked = asked;
      return {
        ...taken,
        give: () => {
          lane.asked = undefined;
          taken.give();
        },
      };
    }
  }

  /** A caller has opened a stream: what the server says to its sessions outside of any call can be passed on. */
  listen(caller: string): void {
    for (const lane of this.#of(caller)) lane.watch.open();
  }

  /** A caller is still there, though it sends nothing: its sessions aren't idle. */
  keep(caller: string): void {
    for (const [key, lane] of [...this.#lanes]) if (belongsTo(key, caller)) this.#touch(key, lane);
  }

  /** Sends a notification in a caller's sessions, where they are open. */
  notify(caller: string, message: JsonObject): void {
    for (const lane of this.#of(caller)) inBackground(this.#options.host, lane.session.notify(message));
  }

  /** Ends a caller's sessions at the server. */
  end(caller: string): void {
    for (const key of [...this.#lanes.keys(), ...this.#stored.keys()]) if (belongsTo(key, caller)) this.#end(key);
  }

  /** The server was away: streams that it ended are asked for again. */
  serverIsBack(): void {
    for (const [caller, lane] of this.#lanes)
      if (lane.session.subscriptions.size > 0 || this.#options.asked(caller) !== undefined) lane.watch.open();
  }

  #of(caller: string): Lane[] {
    return [...this.#lanes].filter(([key]) => belongsTo(key, caller)).map(([, lane]) => lane);
  }

  #end(key: string): void {
    const lane = this.#lanes.get(key) ?? (this.#stored.has(key) ? this.#newLane(key, NOTHING) : undefined);
    if (lane === undefined) return;
    this.#lanes.delete(key);
    lane.watch.close();
    inBackground(this.#options.host, lane.session.close());
  }

  #newLane(caller: string, capabilities: JsonObject): Lane {
    const { host, wire, now, heard, asked } = this.#options;
    const stored = this.#stored.get(caller);
    this.#stored.delete(caller);
    const session = new UpstreamSession({ wire, stored, capabilities, remember: (open) => this.#remember(caller, open) });
    const watch = new Watch({
      host,
      maxBytes: wire.maxBytes,
      ask: () => session.stream(),
      now,
      heard: (message) => (message["id"] === undefined ? heard(caller, message) : session.answer(message, lane.asked ?? asked(caller))),
      // the gateway's own stream tells whether the server is there
      gone: () => undefined,
    });
    const lane: Lane = { session, watch, usedMs: now(), users: 0, asked: undefined };
    this.#lanes.set(caller, lane);
    if (asked(caller) !== undefined) watch.open();
    return lane;
  }

  #remember(caller: string, session: OpenSession | null): void {
    const { host, server } = this.#options;
    if (session === null) host.sql.exec("DELETE FROM upstream_sessions WHERE caller = ? AND server = ?", caller, server);
    else
      host.sql.exec(
        "INSERT OR REPLACE INTO upstream_sessions (caller, server, id, version) VALUES (?, ?, ?, ?)",
        caller,
        server,
        session.id ?? null,
        session.version,
      );
  }

  #touch(caller: string, lane: Lane): void {
    lane.usedMs = this.#options.now();
    lane.watch.used();
    this.#lanes.delete(caller);
    this.#lanes.set(caller, lane);
  }

  /** Ends what nobody has used for ten minutes or needs, and the longest unused of too many. What is in use goes on. */
  #sweep(): void {
    const now = this.#options.now();
    if (this.#lanes.size <= MAX_LANES && now - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = now;
    const { isNeeded } = this.#options;
    if (now - this.#startedMs > IDLE_MS) for (const key of [...this.#stored.keys()]) if (!isNeeded(key)) this.#end(key);
    for (const [key, lane] of this.#lanes) {
      const isTooMany = this.#lanes.size > MAX_LANES;
      if (now - lane.usedMs <= IDLE_MS && !isTooMany) break;
      if (lane.users === 0 && (isTooMany || !isNeeded(key))) this.#end(key);
    }
  }
}

/** A caller may have several sessions with a server: for calls of which it can't be asked back, and for some at once. */
function belongsTo(key: string, caller: string): boolean {
  return key === caller || key.startsWith(`${caller} `);
}
