import type { JsonObject } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Limits } from "../limits.ts";
import type { Host } from "../seam.ts";
import { BadAnswer } from "./bad-answer.ts";
import { capabilityKey, NOTHING } from "./capabilities.ts";
import type { Ask, Era, Wire } from "./channel.ts";
import { discover } from "./discover.ts";
import { eraFor, type Greetings, greetingOf, rememberedGreetings, rememberGreetings } from "./greeting.ts";
import type { ListKind } from "./item-kinds.ts";
import { Lanes } from "./lanes.ts";
import { Link } from "./link.ts";
import type { Reading } from "./server-list.ts";
import { ServerView } from "./server-view.ts";
import type { Watch } from "./watch.ts";

/** A server that spoke the legacy era alone is asked again after so long: it may have learnt the other. */
const ASK_AGAIN_MS = 600_000;
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
    this.lanes = new Lanes({ host, server: key, wire, now, heard, asked: options.asked });
    this.#legacyBase = this.#newView("legacy", NOTHING);
  }

  /** What the server has said of itself, in each era that it speaks. */
  get greetings(): Greetings {
    return this.#greetings;
  }

  /** The era in which a client's call goes out. */
  eraFor(wanted: Era): Era {
    return eraFor(this.#greetings, wanted);
  }

  /** The server as clients of an era with these capabilities see it. */
  view(wanted: Era, capabilities: JsonObject): ServerView {
    const era = this.eraFor(wanted);
    const key = `${era} ${capabilityKey(capabilities)}`;
    const view = this.#views.get(key) ?? this.#newView(era, capabilities);
    this.#views.delete(key);
    this.#views.set(key, view);
    view.usedMs = this.#options.now();
    this.#dropUnused();
    return view;
  }

  /** The server as a client sees it that can't be asked anything. */
  get base(): ServerView {
    const era = this.eraFor("legacy");
    return era === "legacy" ? this.#legacyBase : (this.#views.get(`modern ${capabilityKey(NOTHING)}`) ?? this.#newView(era, NOTHING));
  }

  /** A list as such clients see it; before it was first read, as those that can't be asked do. */
  last(kind: ListKind, view: ServerView): Reading | null {
    return view.last(kind) ?? this.base.last(kind);
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
    this.base.watch.open();
  }

  /** A call has shown that the server doesn't speak the era that it was thought to. Asks it anew. */
  async reconsider(): Promise<void> {
    if (!(await this.link.probe())) this.link.look();
  }

  async #greet(): Promise<void> {
    const { host, key, now } = this.#options;
    const modern = await discover(this.wire);
    this.#saidInHandshake = null;
    // a session of before may be one that a restarted server doesn't know
    this.#legacyBase.session?.drop();
    try {
      await this.#legacyBase.session?.opened();
    } catch (error) {
      if (modern === null || !(error instanceof BadAnswer)) throw error;
    }
    const said = (result: JsonObject | null) => (result === null ? null : greetingOf(result));
    this.#greetings = { legacy: said(this.#saidInHandshake), modern: said(modern), askedMs: now() };
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
    for (const view of new Set([this.base, ...this.#views.values()])) if (this.#greetings[view.channel.era] !== null) view.watch.open();
    this.lanes.serverIsBack();
    for (const watch of this.#watches) watch.open();
    if (this.#options.isReady()) inBackground(this.#options.host, this.#readAll());
  }

  async #readAll(): Promise<void> {
    const spoken = [...this.#views.values()].filter((view) => this.#greetings[view.channel.era] !== null);
    await Promise.all([this.base, ...spoken.filter((view) => view !== this.base)].map((view) => view.read()));
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
    const spoken = [...this.#views.values()].filter((view) => this.#greetings[view.channel.era] !== null);
    await Promise.all(spoken.map((view) => view.readAgain(kind)));
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
