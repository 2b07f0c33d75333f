import { isJsonObject, isListedTool, type JsonObject, type ListedTool } from "@agent-env/protocol";
import { within } from "../timing.ts";
import type { Link, Outcome, Trouble } from "./link.ts";
import type { UpstreamSession } from "./upstream-session.ts";

const LIST_MS = 30_000;
const WAIT_WITH_OLD_MS = 5_000;
const MAX_PAGES = 1_000;
const MAX_ITEMS = 10_000;

/** One server's tools as last read. */
export type ToolReading = { readonly tools: readonly ListedTool[]; readonly warnings: readonly string[] };

/** Keeps the list of one server's tools: the last good one counts while the server is slow or away. */
export class ToolList {
  readonly #link: Link;
  readonly #own: UpstreamSession;
  readonly #now: () => number;
  readonly #changed: (tools: readonly ListedTool[]) => void;
  #last: ToolReading | null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Trouble | null> | null = null;
  #trouble: Trouble | null = null;

  constructor(options: {
    link: Link;
    own: UpstreamSession;
    now: () => number;
    stored: readonly ListedTool[] | null;
    changed: (tools: readonly ListedTool[]) => void;
  }) {
    this.#link = options.link;
    this.#own = options.own;
    this.#now = options.now;
    this.#changed = options.changed;
    this.#last = options.stored === null ? null : { tools: options.stored, warnings: [] };
  }

  /** The last good list; null if there was none yet. */
  get last(): ToolReading | null {
    return this.#last;
  }

  /** What is wrong with the list: with the last good one, or why there is no newer one. */
  get warnings(): readonly string[] {
    const trouble = this.#trouble === null ? [] : [`tools/list: ${this.#trouble.detail}`];
    return [...(this.#last?.warnings ?? []), ...trouble];
  }

  /** Reads a list that is older than `ms`: waits for it where there is none yet, else for 5 s at most. */
  async freshen(ms: number): Promise<void> {
    if (this.#now() - this.#readAt < ms) return;
    // a server that is away has the list read again when it is back
    if (this.#link.state.status !== "up") return this.#link.look();
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
    const tools: ListedTool[] = [];
    const warnings: string[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; ; page++) {
      const outcome = await this.#readPage(cursor);
      if ("trouble" in outcome) return outcome.trouble;
      const result = outcome.reply["result"];
      if (!isJsonObject(result)) {
        if (page === 0 && isMethodUnknown(outcome.reply)) break;
        return { reason: "bad_answer", detail: errorText(outcome.reply), delivered: true };
      }
      const items = result["tools"];
      if (!Array.isArray(items)) return { reason: "bad_answer", detail: "its result has no list of tools", delivered: true };
      takeItems(items, tools, warnings);
      const next = result["nextCursor"];
      if (typeof next !== "string") break;
      const stop = seen.has(next)
        ? "a cursor came twice"
        : page + 1 >= MAX_PAGES
          ? `more than ${MAX_PAGES} pages`
          : tools.length >= MAX_ITEMS
            ? `more than ${MAX_ITEMS} tools`
            : null;
      if (stop !== null) {
        warnings.push(`tools/list: ${stop}; the rest is not listed`);
        break;
      }
      seen.add(next);
      cursor = next;
    }
    const reading = { tools, warnings };
    const isNew = JSON.stringify(reading) !== JSON.stringify(this.#last);
    this.#last = reading;
    this.#readAt = this.#now();
    if (isNew) this.#changed(tools);
    return null;
  }

  async #readPage(cursor: string | undefined): Promise<Outcome> {
    const message: JsonObject = { jsonrpc: "2.0", method: "tools/list", ...(cursor === undefined ? {} : { params: { cursor } }) };
    const ask = { message, silenceMs: LIST_MS, heard: () => undefined };
    const outcome = await this.#link.request(this.#own, ask, true);
    const again = "trouble" in outcome && outcome.trouble.reason === "refused";
    return again ? await this.#link.request(this.#own, ask, true) : outcome;
  }
}

function takeItems(items: readonly unknown[], tools: ListedTool[], warnings: string[]): void {
  for (const item of items) {
    if (isListedTool(item)) tools.push(item);
    else warnings.push(`tools/list: ${JSON.stringify(nameOf(item))} is not listed: it has no name or no inputSchema of type object`);
  }
}

function nameOf(item: unknown): unknown {
  return isJsonObject(item) ? (item["name"] ?? null) : null;
}

function isMethodUnknown(reply: JsonObject): boolean {
  const error = reply["error"];
  return isJsonObject(error) && error["code"] === -32601;
}

function errorText(reply: JsonObject): string {
  const error = reply["error"];
  return isJsonObject(error) ? `error ${JSON.stringify(error["code"])}` : "no result";
}
