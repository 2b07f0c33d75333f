import type { Card, JsonObject, Segments } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Host, Sql } from "../seam.ts";
import { within } from "../timing.ts";
import { serviceKey } from "../view.ts";
import { type Backing, ownOrigins, reservedPaths } from "./backing.ts";
import { type CardReading, readCard, readingOf, type ServedCard } from "./card-reading.ts";
import { type Child, composedCard } from "./composed-card.ts";

const FRESH_MS = 5_000;
const WAIT_MS = 5_000;

type Cares = {
  readonly host: Host;
  readonly now: () => number;
  /** A card is another, or gone: what is routed may be too. */
  readonly changed: () => void;
  /** A card was read. */
  readonly taken: (backing: Backing, card: Card) => Promise<void>;
  readonly warn: (backing: Backing, warning: string) => void;
};

/** The servers' cards: once read, one is kept and used while its server is away; what it has reserved stays reserved. */
export class Cards {
  readonly #cares: Cares;

  constructor(cares: Cares) {
    this.#cares = cares;
  }

  /** The gateway's card over its servers'. */
  async composed(name: string, backings: readonly Backing[]): Promise<JsonObject> {
    const children = await this.children(backings);
    return composedCard(name, children.flatMap(childOf));
  }

  /** The servers that are children of the gateway's card, after waiting for cards that were never read, at most 5 s. */
  async children(backings: readonly Backing[]): Promise<Backing[]> {
    const children = backings.filter(({ server }) => server.svc !== false);
    const never = children.filter(({ served, cardReadAtMs }) => served === null && cardReadAtMs === 0);
    for (const backing of children) if (!never.includes(backing)) this.#freshen(backing);
    if (never.length > 0) await within(Promise.all(never.map((backing) => this.read(backing))), WAIT_MS);
    return children;
  }

  /** Reads a server's card, and draws what follows from it. */
  async read(backing: Backing): Promise<CardReading> {
    const { host, now, warn } = this.#cares;
    const reading = await readCard(host, backing.server.url);
    backing.cardReadAtMs = now();
    const trouble = reading.is === "unsettled" ? reading.reason : null;
    if ((trouble === null) !== (backing.cardTrouble === null)) backing.sinceMs = now();
    backing.cardTrouble = trouble;
    if (reading.is === "unsettled") return reading;
    backing.isSettled = true;
    if (reading.is === "card") await this.#take(backing, reading.served);
    else if (reading.warning === null) this.#forget(backing);
    else warn(backing, reading.warning);
    return reading;
  }

  #freshen(backing: Backing): void {
    const { host, now } = this.#cares;
    if (now() - backing.cardReadAtMs < FRESH_MS) return;
    backing.cardReadAtMs = now();
    inBackground(host, this.read(backing));
  }

  async #take(backing: Backing, served: ServedCard): Promise<void> {
    const { host, changed, taken } = this.#cares;
    const key = serviceKey(backing.server);
    if (JSON.stringify(served.raw) !== JSON.stringify(backing.served?.raw)) {
      host.sql.exec("INSERT OR REPLACE INTO cards (server, card) VALUES (?, ?)", key, JSON.stringify(served.raw));
      for (const path of reservedPaths(served.card, ownOrigins(backing.server))) {
        backing.reserved.set(JSON.stringify(path), path);
        host.sql.exec("INSERT OR IGNORE INTO reserved (server, path) VALUES (?, ?)", key, JSON.stringify(path));
      }
      backing.served = served;
      changed();
    }
    await taken(backing, served.card);
  }

  #forget(backing: Backing): void {
    if (backing.served === null) return;
    backing.served = null;
    this.#cares.host.sql.exec("DELETE FROM cards WHERE server = ?", serviceKey(backing.server));
    this.#cares.changed();
  }
}

/** What was remembered of a server's cards. */
export function rememberedCards(sql: Sql, key: string): { served: ServedCard | null; reserved: Map<string, Segments> } {
  const card = sql.exec("SELECT card FROM cards WHERE server = ?", key)[0]?.["card"];
  const reading = typeof card === "string" ? readingOf(200, card) : null;
  const paths = sql.exec("SELECT path FROM reserved WHERE server = ?", key).map((row) => String(row["path"]));
  return {
    served: reading?.is === "card" ? reading.served : null,
    reserved: new Map(paths.map((path): [string, Segments] => [path, JSON.parse(path)])),
  };
}

function childOf({ served, server }: Backing): Child[] {
  return served === null ? [] : [{ key: encodeURIComponent(serviceKey(server)), raw: served.raw, origins: ownOrigins(server) }];
}
