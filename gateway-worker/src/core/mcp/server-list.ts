import { isJsonObject, type JsonObject } from "@agent-env/protocol";
import { LONGEST_NAME } from "../deployment/names.ts";
import { within } from "../timing.ts";
import type { Channel } from "./channel.ts";
import { KINDS, type ListKind } from "./item-kinds.ts";
import type { Link, Outcome, Trouble } from "./link.ts";
import { readPages } from "./pages.ts";
import { badHeaderParams } from "./param-headers.ts";

const LIST_MS = 30_000;
const WAIT_WITH_OLD_MS = 5_000;

/** One list of a server as last read. `isStream`: it came as one. */
export type Reading = { readonly items: readonly JsonObject[]; readonly warnings: readonly string[]; readonly isStream: boolean };

export type ServerListOptions = {
  readonly kind: ListKind;
  readonly link: Link;
  readonly channel: Channel;
  readonly now: () => number;
  readonly stored: readonly JsonObject[] | null;
  readonly changed: (items: readonly JsonObject[]) => void;
};

/** Keeps one list of one server: the last good one counts while the server is slow or away. */
export class ServerList {
  readonly #options: ServerListOptions;
  #last: Reading | null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Trouble | null> | null = null;
  #trouble: Trouble | null = null;

  constructor(options: ServerListOptions) {
    this.#options = options;
    this.#last = options.stored === null ? null : { items: options.stored, warnings: [], isStream: false };
  }

  /** The last good list; null if there was none yet. */
  get last(): Reading | null {
    return this.#last;
  }

  /** What is wrong with the list: with the last good one, or why there is no newer one. */
  get warnings(): readonly string[] {
    const trouble = this.#trouble === null ? [] : [`${KINDS[this.#options.kind].method}: ${this.#trouble.detail}`];
    return [...(this.#last?.warnings ?? []), ...trouble];
  }

  /** Reads a list that is older than `ms`: waits for it where there is none yet, else for 5 s at most. */
  async freshen(ms: number): Promise<void> {
    const { now, link } = this.#options;
    if (now() - this.#readAt < ms) return;
    // a server that is away has the list read again when it is back
    if (link.state.status !== "up") return link.look();
    const reading = this.read();
    if (this.#last === null) await reading;
    else await within(reading, WAIT_WITH_OLD_MS);
  }

  /** Reads the list again, once for all who ask meanwhile. Null when it went well. */
  read(): Promise<Trouble | null> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<Trouble | null> {
    this.#trouble = await this.#readAll();
    return this.#trouble;
  }

  async #readAll(): Promise<Trouble | null> {
    const { kind, now, changed } = this.#options;
    const items: JsonObject[] = [];
    const badItems: string[] = [];
    const read = await readPages({
      method: KINDS[kind].method,
      key: KINDS[kind].key,
      items: kind,
      ask: (message) => this.#ask(message),
      take: (listed) => {
        this.#take(listed, items, badItems);
        return items.length;
      },
    });
    if ("trouble" in read) return read.trouble;
    const isNew = JSON.stringify(items) !== JSON.stringify(this.#last?.items);
    this.#last = { items, warnings: [...badItems, ...read.warnings], isStream: read.isStream };
    this.#readAt = now();
    if (isNew) changed(items);
    return null;
  }

  async #ask(message: JsonObject): Promise<Outcome> {
    const { link, channel } = this.#options;
    const ask = { message, silenceMs: LIST_MS, heard: () => undefined };
    const outcome = await link.request(channel, ask, true);
    const again = "trouble" in outcome && outcome.trouble.reason === "refused";
    return again ? await link.request(channel, ask, true) : outcome;
  }

  #take(listed: readonly unknown[], items: JsonObject[], warnings: string[]): void {
    const { kind, channel } = this.#options;
    const { method, isItem, lacks, nameKey } = KINDS[kind];
    for (const item of listed) {
      const name = isJsonObject(item) ? (item[nameKey] ?? null) : null;
      const why = isItem(item) ? (kind === "tools" && channel.era === "modern" ? badHeaderParams(item) : null) : lacks;
      if (isItem(item) && why === null) {
        items.push(item);
        if (nameKey === "name" && String(name).length > LONGEST_NAME)
          warnings.push(`${method}: ${JSON.stringify(name)} has more than ${LONGEST_NAME} characters: some clients fail on it`);
      } else warnings.push(`${method}: ${JSON.stringify(name)} is not listed: ${why}`);
    }
  }
}
