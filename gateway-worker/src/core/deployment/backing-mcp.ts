import { isListedTool, type JsonObject, type ListedTool, parseJson } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { Lanes } from "../mcp/lanes.ts";
import { Link } from "../mcp/link.ts";
import { ToolList } from "../mcp/tool-list.ts";
import { UpstreamSession, type Wire } from "../mcp/upstream-session.ts";
import { Watch } from "../mcp/watch.ts";
import { HOPS_FIELD } from "../route.ts";
import type { Host, Sql } from "../seam.ts";
import type { Settings } from "../settings.ts";
import { pause } from "../timing.ts";
import { serviceKey } from "../view.ts";
import type { Backing, BackingMcp } from "./backing.ts";

/** Notices of one change come in groups. */
const LIST_CHANGES_MS = 100;

type Cares = {
  readonly host: Host;
  readonly settings: Settings;
  readonly now: () => number;
  /** The start reads lists by itself. */
  readonly isReady: () => boolean;
  readonly listChanged: () => void;
};

/** A server's MCP at `endpoint`: its connection, its list, its callers' sessions. Nothing of it is shared with another server. */
export function backingMcp(cares: Cares, backing: Backing, endpoint: string): BackingMcp {
  const { host, settings, now } = cares;
  const key = serviceKey(backing.server);
  let lastId = 0;
  let isListDue = false;
  const wire: Wire = { host, url: endpoint, maxBytes: settings.maxMessageBytes, fields: () => [[HOPS_FIELD, "1"]], nextId: () => ++lastId };
  const own = new UpstreamSession(wire, null, () => undefined);
  const heard = (message: JsonObject): void => {
    if (message["method"] !== "notifications/tools/list_changed" || isListDue) return;
    isListDue = true;
    const reading = pause(LIST_CHANGES_MS).then(() => {
      isListDue = false;
      return list.read();
    });
    inBackground(host, reading);
  };
  const watch = new Watch({ wire, own, now, heard, gone: (reason) => link.lost(reason) });
  const cameUp = (): void => {
    watch.open();
    if (cares.isReady()) inBackground(host, list.read());
  };
  const link = new Link({ own, waitMs: settings.upstreamWaitMs, now, cameUp, background: (work) => inBackground(host, work) });
  const changed = (tools: readonly ListedTool[]): void => {
    cares.listChanged();
    host.sql.exec("INSERT OR REPLACE INTO tool_lists (server, tools) VALUES (?, ?)", key, JSON.stringify(tools));
  };
  const list = new ToolList({ link, own, now, stored: storedTools(host.sql, key), changed });
  return { link, list, watch, lanes: new Lanes({ host, server: key, wire, now }) };
}

function storedTools(sql: Sql, key: string): ListedTool[] | null {
  const text = sql.exec("SELECT tools FROM tool_lists WHERE server = ?", key)[0]?.["tools"];
  const items = typeof text === "string" ? parseJson(text) : null;
  return Array.isArray(items) ? items.filter(isListedTool) : null;
}
