import type { JsonObject } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { pause } from "../timing.ts";
import type { Channel, Era, Wire } from "./channel.ts";
import type { Greeting } from "./greeting.ts";
import { KINDS, LIST_KINDS, type ListKind } from "./item-kinds.ts";
import type { Link } from "./link.ts";
import { ModernChannel } from "./modern-channel.ts";
import { type Reading, ServerList } from "./server-list.ts";
import { UpstreamSession } from "./upstream-session.ts";
import { Watch } from "./watch.ts";

/** Notices of one change come in groups. */
const LIST_CHANGES_MS = 100;
const STREAM_IDLE_MS = 3_600_000;
const LISTEN = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

export type ServerViewOptions = {
  readonly wire: Wire;
  readonly link: Link;
  readonly era: Era;
  readonly capabilities: JsonObject;
  readonly now: () => number;
  /** What the server has said in this era; null before. */
  readonly greeting: () => Greeting | null;
  readonly greeted: (result: JsonObject) => void;
  readonly stored: (kind: ListKind) => readonly JsonObject[] | null;
  readonly changed: (kind: ListKind, items: readonly JsonObject[]) => void;
  /** The server has said that a list is another. */
  readonly noticed: (kind: ListKind) => void;
};

/**
 * One server as clients of one era with one set of capabilities see it: servers may show more to a client that they can ask.
 * Besides, the gateway's own ear for changes.
 */
export class ServerView {
  readonly channel: Channel;
  readonly watch: Watch;
  readonly session: UpstreamSession | null;
  readonly #options: ServerViewOptions;
  readonly #lists: Readonly<Record<ListKind, ServerList>>;
  readonly #due = new Set<ListKind>();
  usedMs: number;

  constructor(options: ServerViewOptions) {
    const { wire, link, era, capabilities, now, stored, changed } = options;
    this.#options = options;
    this.usedMs = now();
    this.session = era === "legacy" ? new UpstreamSession({ wire, capabilities, greeted: options.greeted }) : null;
    this.channel = this.session ?? new ModernChannel(wire, { capabilities });
    const list = (kind: ListKind) =>
      new ServerList({ kind, link, channel: this.channel, now, stored: stored(kind), changed: (items) => changed(kind, items) });
    this.#lists = { tools: list("tools"), prompts: list("prompts"), resources: list("resources"), templates: list("templates") };
    this.watch = new Watch({
      host: wire.host,
      maxBytes: wire.maxBytes,
      ask: async () => (this.session === null ? listening(wire, capabilities) : await this.session.stream()),
      now,
      heard: (message) => void this.heard(message),
      gone: (reason) => link.lost(reason),
    });
  }

  /** A list as last read; null if it never was. */
  last(kind: ListKind): Reading | null {
    return this.#lists[kind].last;
  }

  /** What is wrong with the lists. */
  get warnings(): readonly string[] {
    return LIST_KINDS.flatMap((kind) => this.#lists[kind].warnings);
  }

  /** Reads lists that are older than `ms`. */
  async freshen(kind: ListKind, ms: number): Promise<void> {
    if (await this.#has(kind)) await this.#lists[kind].freshen(ms);
  }

  /** Reads all lists again. */
  async read(): Promise<void> {
    await Promise.all(LIST_KINDS.map((kind) => this.readAgain(kind)));
  }

  /** Reads one list again. */
  async readAgain(kind: ListKind): Promise<void> {
    if (await this.#has(kind)) await this.#lists[kind].read();
  }

  /** Takes note of a change that the server tells of. False: the message tells of none. */
  heard(message: JsonObject): boolean {
    const changed = LIST_KINDS.filter((kind) => message["method"] === KINDS[kind].changed);
    for (const kind of changed) this.#notice(kind);
    return changed.length > 0;
  }

  /** Ends what the gateway itself has open with the server. */
  close(): void {
    this.watch.close();
    if (this.session !== null) inBackground(this.#options.wire.host, this.session.close());
  }

  /** A list is only asked for where the server declares it. Tools always are: some servers declare nothing. */
  async #has(kind: ListKind): Promise<boolean> {
    if (kind === "tools") return true;
    return this.#options.greeting()?.capabilities[KINDS[kind].capability] !== undefined;
  }

  /** Reads a list again that the server says has changed, once for all notices of a moment. */
  #notice(kind: ListKind): void {
    if (this.#due.has(kind)) return;
    this.#due.add(kind);
    const reading = pause(LIST_CHANGES_MS).then(() => {
      this.#due.delete(kind);
      this.#options.noticed(kind);
    });
    inBackground(this.#options.wire.host, reading);
  }
}

/** A modern server's stream of changes. */
function listening(wire: Wire, capabilities: JsonObject) {
  const message = { jsonrpc: "2.0", method: "subscriptions/listen", params: { notifications: LISTEN } };
  return listenStream(wire, { message, capabilities });
}

/** Opens a listen at a modern server. */
export function listenStream(wire: Wire, { message, capabilities }: { message: JsonObject; capabilities: JsonObject }) {
  const post = new ModernChannel(wire, { capabilities }).post(message, wire.nextId());
  const headers: [string, string][] = [
    ["content-type", "application/json"],
    ["accept", "application/json, text/event-stream"],
    ["accept-encoding", "identity"],
    ["mcp-protocol-version", String(post.version)],
    ...post.fields.map(([name, value]): [string, string] => [name, value]),
  ];
  return wire.host.upstream({ method: "POST", url: wire.url, headers, body: JSON.stringify(post.message), idleMs: STREAM_IDLE_MS });
}
