import { isJsonObject, type JsonObject, parseJson } from "@agent-env/protocol";
import type { Ask, Wire } from "../mcp/channel.ts";
import { KINDS, type ListKind } from "../mcp/item-kinds.ts";
import { UpstreamServer } from "../mcp/upstream-server.ts";
import { HOPS_FIELD } from "../route.ts";
import type { Field, Host, Sql } from "../seam.ts";
import type { Settings } from "../settings.ts";
import { timeFields } from "../universe-time.ts";
import { serviceKey } from "../view.ts";
import type { Backing } from "./backing.ts";

/** A longer list isn't kept over a restart: a row of a Durable Object's database may have 2 MB. */
const LONGEST_STORED = 1_900_000;

type Cares = {
  readonly host: Host;
  readonly settings: Settings;
  readonly now: () => number;
  /** The start reads lists by itself. */
  readonly isReady: () => boolean;
  readonly listsChanged: () => void;
  /** Whether an idle session with a server has tasks that would be lost with it. */
  readonly isNeeded: (source: string, lane: string) => boolean;
  /** The universe's time; null while its clock is unarmed. */
  readonly time: () => string | null;
  readonly heard: (caller: string, message: JsonObject, source: string) => void;
  readonly asked: (caller: string) => Ask["asked"];
};

/** A server's MCP at `endpoint`, with what was remembered of it. */
export function backingMcp(cares: Cares, backing: Backing, endpoint: string): UpstreamServer {
  const { host, settings, now } = cares;
  const key = serviceKey(backing.server);
  let lastId = 0;
  const wire: Wire = {
    host,
    url: endpoint,
    maxBytes: settings.maxMessageBytes,
    fields: () => ownFields(cares.time()),
    nextId: () => ++lastId,
  };
  return new UpstreamServer({
    key,
    host,
    wire,
    waitMs: settings.upstreamWaitMs,
    limits: settings,
    now,
    isReady: cares.isReady,
    listsChanged: cares.listsChanged,
    isNeeded: (lane) => cares.isNeeded(backing.server.name, lane),
    heard: (caller, message) => cares.heard(caller, message, backing.server.name),
    asked: cares.asked,
    stored: (kind) => storedItems(host.sql, key, kind),
    store: (kind, items) => storeItems(host.sql, key, kind, items),
  });
}

function ownFields(time: string | null): Field[] {
  return [[HOPS_FIELD, "1"], ...timeFields(time)];
}

function storeItems(sql: Sql, server: string, kind: ListKind, items: readonly JsonObject[]): void {
  const text = JSON.stringify(items);
  if (text.length > LONGEST_STORED) sql.exec("DELETE FROM server_lists WHERE server = ? AND kind = ?", server, kind);
  else sql.exec("INSERT OR REPLACE INTO server_lists (server, kind, items) VALUES (?, ?, ?)", server, kind, text);
}

function storedItems(sql: Sql, server: string, kind: ListKind): JsonObject[] | null {
  const text = sql.exec("SELECT items FROM server_lists WHERE server = ? AND kind = ?", server, kind)[0]?.["items"];
  const items = typeof text === "string" ? parseJson(text) : null;
  return Array.isArray(items) ? items.filter(isJsonObject).filter(KINDS[kind].isItem) : null;
}
