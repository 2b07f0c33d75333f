import type { JsonObject } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Limits } from "../limits.ts";
import { Fault, type Host } from "../seam.ts";
import { within } from "../timing.ts";
import { BadAnswer } from "./bad-answer.ts";
import { capabilityKey, NOTHING } from "./capabilities.ts";
import type { Ask, ClientEra, Era, Wire } from "./channel.ts";
import { discover } from "./discover.ts";
import { eraFor, type Greeting, type Greetings, greetingOf, rememberedGreetings, rememberGreetings } from "./greeting.ts";
import type { ListKind } from "./item-kinds.ts";
import { Lanes } from "./lanes.ts";
import { Link } from "./link.ts";
import type { Reading } from "./server-list.ts";
import { ServerView } from "./server-view.ts";
import type { Watch } from "./watch.ts";

/** A server that spoke the legacy era alone is asked again after so long: it may have learnt the other. */
const ASK_AGAIN_MS = 600_000;
/** So long a modern server that doesn't answer a handshake holds legacy clients up, once. */
const WAIT_FOR_LEGACY_MS = 5_000;
/** Capability sets are free to choose for clients. */
const MAX_VIEWS = 32;

export type UpstreamServerOptions = {
  readonly key: string;
  readonly host: Host;
  readonly wire: Wire;
  readonly waitMs: number;
  readonly limits: Pick<Limits, "maxCalls" | "maxWaitingCalls">;
  readonly now: () => number;
  /** Whether lists are read as soon as the server is back: the start reads them by itself. */
  readonly isReady: () => boolean;
  readonly listsChanged: () => void;
  /** Whether a caller's session has tasks that would be lost with it. */
  readonly isNeeded: (lane: string) => boolean;
  /** What a server says to one caller outside of any call. */
  readonly heard: (caller: string, message: JsonObject) => void;
  /** What it asks one caller outside of any call, where that can be asked now. */
  readonly asked: (caller: string) => Ask["asked"];
  readonly stored: (kind: ListKind) => readonly JsonObject[] | null;
  readonly store: (kind: ListKind, items: readonly JsonObject[]) => void;
};

/** A server's MCP: its connection, its lists, its callers' sessions. Nothing of it is shared with another server. */
export class UpstreamServer {
  readonly link: Link;
  readonly lanes: Lanes;
  readonly wire: Wire;
  readonly #options: UpstreamServerOptions;
  readonly #views = new Map<string, ServerView>();
  /** The gateway's own session with a legacy server: to see whether it is there. */
  readonly #legacyBase: ServerView;
  /** Streams that others have open with the server. */
  readonly #watches = new Set<Watch>();
  #greetings: Greetings;
  #saidInHandshake: JsonObject | null = null;
  #isAsking = false;
  /** Under way while a modern server is asked whether it speaks the legacy era, too. */
  #meeting: { readonly done: Promise<void>; readonly untilMs: number } | null = null;

  constructor(options: UpstreamServerOptions) {
    const { key, host, wire, waitMs, limits, now } = options;
    this.#options = options;
    this.wire = wire;
    this.#greetings = rememberedGreetings(host.sql, key);
    this.link = new Link({
      greet: () => this.#greet(),
      waitMs,
      limits,
      now,
      cameUp: () => this.#cameUp(),
      background: (work) => inBackground(host, work),
    });
    const heard = (caller: string, message: JsonObject): void => {
      if (!this.#legacyBase.heard(message)) options.heard(caller, message);
    };
    this.lanes = new Lanes({ host, server: key, wire, now, heard, asked: options.asked, isNeeded: options.isNeeded });
    this.#legacyBase = this.#newView("legacy", NOTHING);
  }

  /** What the server has said of itself in the era in which such a client's calls go out; null if it never did. */
  greetingFor(wanted: ClientEra): Greeting | null {
    return this.#greetings[this.eraFor(wanted)];
  }

  /** The era in which a client's call goes out. */
  eraFor(wanted: ClientEra): Era {
    return eraFor(this.#greetings, wanted);
  }

  /** Whether it isn't known yet what a server that is there is to legacy clients. */
  get isLegacyUnmet(): boolean {
    return this.#greetings.isLegacyOpen && this.link.state.status === "up";
  }

  /** A legacy client is there: a modern server is asked whether it speaks that era too, unless it has been (6-mcp §5). */
  async meetLegacy(): Promise<void> {
    const { now } = this.#options;
    if (!this.isLegacyUnmet) return;
    this.#meeting ??= {
      done: this.#askInLegacy().finally(() => {
        this.#meeting = null;
      }),
      untilMs: now() + WAIT_FOR_LEGACY_MS,
    };
    await within(this.#meeting.done, this.#meeting.untilMs - now());
  }

  /** The server as clients of an era with these capabilities see it. */
  view(wanted: ClientEra, capabilities: JsonObject): ServerView {
    const era = this.eraFor(wanted);
    const key = `${era} ${capabilityKey(capabilities)}`;
    const view = this.#views.get(key) ?? this.#newView(era, capabilities);
    this.#views.delete(key);
    this.#views.set(key, view);
    view.usedMs = this.#options.now();
    this.#dropUnused();
    return view;
  }

  /** The server as the gateway itself sees it, and whoever can't be asked anything. */
  get base(): ServerView {
    const era = this.eraFor("any");
    return era === "legacy" ? this.#legacyBase : (this.#views.get(`modern ${capabilityKey(NOTHING)}`) ?? this.#newView(era, NOTHING));
  }

  /** A list as such clients see it; before it was first read, as those do that can't be asked, or are of the other era. */
  last(kind: ListKind, view: ServerView): Reading | null {
    const ofEra = view.channel.era === "legacy" ? this.#legacyBase : this.base;
    return view.last(kind) ?? ofEra.last(kind) ?? this.base.last(kind);
  }

  /** Somebody asks for the deployment. */
  used(): void {
    for (const view of this.#views.values()) view.watch.used();
    const { modern, askedMs } = this.#greetings;
    const isDue = modern === null && this.link.state.status === "up" && this.#options.now() - askedMs > ASK_AGAIN_MS;
    if (isDue && !this.#isAsking) inBackground(this.#options.host, this.#askAgain());
  }

  /** Opens a stream, and again whenever the server is back. Gives how it is closed for good. */
  keepOpen(watch: Watch): () => void {
    this.#watches.add(watch);
    watch.open();
    return () => {
      this.#watches.delete(watch);
      watch.close();
    };
  }

  /** The server was up when the deployment was last in memory. */
  assumeUp(): void {
    this.link.assumeUp();
    this.#listen();
  }

  /** A call has shown that the server doesn't speak the era that it was thought to. Asks it anew. */
  async reconsider(): Promise<void> {
    if (!(await this.link.probe())) this.link.look();
  }

  async #greet(): Promise<void> {
    const before = this.base;
    const modern = await discover(this.wire);
    const isLegacyOpen = modern !== null && this.#greetings.legacy === null;
    const legacy = isLegacyOpen ? null : await this.#handshake(modern !== null);
    this.#greeted({ legacy, modern: modern === null ? null : greetingOf(modern), isLegacyOpen });
    // one that was down is listened to when it comes up
    if (this.link.state.status === "up" && this.base !== before) this.base.watch.open();
  }

  /** What the server says in a handshake; null for one that takes none, where `isModern` it may. Throws `Fault` and `BadAnswer`. */
  async #handshake(isModern: boolean): Promise<Greeting | null> {
    this.#saidInHandshake = null;
    // a session of before may be one that a restarted server doesn't know
    this.#legacyBase.session?.drop();
    try {
      await this.#legacyBase.session?.opened();
    } catch (error) {
      if (!isModern || !(error instanceof BadAnswer)) throw error;
    }
    return this.#saidInHandshake === null ? null : greetingOf(this.#saidInHandshake);
  }

  async #askInLegacy(): Promise<void> {
    try {
      const legacy = await this.#handshake(true);
      // meanwhile it may have been found to speak that era alone
      if (!this.#greetings.isLegacyOpen) return;
      this.#greeted({ ...this.#greetings, legacy, isLegacyOpen: false });
      if (legacy === null) return;
      this.#legacyBase.watch.open();
      await this.#legacyBase.read();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // no answer is no verdict: nothing is written down, and it is asked again when it has been away
      if (error.kind === "timeout") this.#greetings = { ...this.#greetings, isLegacyOpen: false };
      else this.link.lost(error.reason);
    }
  }

  #greeted(said: Omit<Greetings, "askedMs">): void {
    const { host, key, now } = this.#options;
    this.#greetings = { ...said, askedMs: now() };
    rememberGreetings(host.sql, key, this.#greetings);
  }

  async #askAgain(): Promise<void> {
    this.#isAsking = true;
    try {
      await this.#legacyBase.session?.close();
      if (await this.link.probe()) await this.#readAll();
    } finally {
      this.#isAsking = false;
    }
  }

  #cameUp(): void {
    this.#listen();
    if (this.#greetings.legacy !== null) this.lanes.serverIsBack();
    for (const watch of this.#watches) watch.open();
    if (this.#options.isReady()) inBackground(this.#options.host, this.#readAll());
  }

  /** Opens the gateway's own ears. */
  #listen(): void {
    for (const view of this.#spoken()) view.watch.open();
  }

  async #readAll(): Promise<void> {
    await Promise.all([...this.#spoken()].map((view) => view.read()));
  }

  /** The views in eras that the server speaks. */
  #spoken(): Set<ServerView> {
    return new Set([this.base, ...[...this.#views.values()].filter((view) => this.#greetings[view.channel.era] !== null)]);
  }

  #newView(era: Era, capabilities: JsonObject): ServerView {
    const { now, stored, store, listsChanged } = this.#options;
    const key = capabilityKey(capabilities);
    const isBase = key === capabilityKey(NOTHING);
    const view = new ServerView({
      wire: this.wire,
      link: this.link,
      era,
      capabilities,
      now,
      greeting: () => this.#greetings[era],
      greeted: (result) => {
        this.#saidInHandshake = result;
      },
      stored: (kind) => (isBase ? stored(kind) : null),
      changed: (kind, items) => {
        if (isBase) store(kind, items);
        listsChanged();
      },
      noticed: (kind) => inBackground(this.#options.host, this.#readAgain(kind)),
    });
    this.#views.set(`${era} ${key}`, view);
    if (!isBase && this.link.state.status === "up") view.watch.open();
    return view;
  }

  async #readAgain(kind: ListKind): Promise<void> {
    await Promise.all([...this.#spoken()].map((view) => view.readAgain(kind)));
  }

  #dropUnused(): void {
    if (this.#views.size <= MAX_VIEWS) return;
    for (const [key, view] of this.#views) {
      if (view === this.#legacyBase || view === this.base) continue;
      this.#views.delete(key);
      view.close();
      return;
    }
  }
}
