import {
  type Card,
  type DeployedServer,
  isListedTool,
  type JsonObject,
  type ListedTool,
  parseJson,
  type RoleRules,
  type Segments,
} from "@agent-env/protocol";
import { Lanes } from "../mcp/lanes.ts";
import { Link } from "../mcp/link.ts";
import { ToolList, type ToolReading } from "../mcp/tool-list.ts";
import { UpstreamSession, type Wire } from "../mcp/upstream-session.ts";
import { Watch } from "../mcp/watch.ts";
import { HOPS_FIELD } from "../route.ts";
import type { Host } from "../seam.ts";
import type { Settings } from "../settings.ts";
import { pause, within } from "../timing.ts";
import { endpointOf, type HostRules, inToolOrder, serviceKey, type View, viewOf } from "../view.ts";
import { type Backing, declaredEndpoint, factsOf, ownOrigins, reservedPaths } from "./backing.ts";
import { type CardReading, readCard, readingOf, type ServedCard } from "./card-reading.ts";
import { type Catalogue, catalogueOf } from "./catalogue.ts";
import { type Child, composedCard } from "./composed-card.ts";
import { GATEWAY_SOURCE, gatewayTools } from "./gateway-tools.ts";
import { readRoleRules } from "./role-rules.ts";
import { prepareTables } from "./schema.ts";
import { Sessions } from "./sessions.ts";
import { Vault } from "./vault.ts";

const CARD_FRESH_MS = 5_000;
const CARD_WAIT_MS = 5_000;
/** Notices of one change come in groups. */
const LIST_CHANGES_MS = 100;
const LIST_FRESH_MS = 30_000;

/** One server that can be called: its own connection, and each caller's sessions with it. */
export type Callable = { readonly link: Link; readonly lanes: Lanes };

/** One deployment: what the gateway knows of its servers, and what it remembers of its callers. */
export class Deployment {
  readonly host: Host;
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly backings: readonly Backing[];
  readonly #hosts: HostRules;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lanes>();
  readonly #listeners = new Set<() => void>();
  #notReady: string | null = "starting";
  #view: View | null = null;
  #catalogue: Catalogue | null = null;
  #rules: RoleRules;

  constructor(host: Host, settings: Settings, hosts: HostRules, now: () => number = Date.now) {
    this.host = host;
    this.settings = settings;
    this.#hosts = hosts;
    this.#now = now;
    prepareTables(host.sql);
    const record = host.record();
    this.sessions = new Sessions({
      sql: host.sql,
      vault: new Vault(host.sql),
      deployment: record.deployment_id ?? record.name,
      idleMs: settings.sessionIdleMs,
      now,
    });
    this.#rules = readRoleRules(host.sql);
    this.backings = inToolOrder(record).map((server) => this.#backing(server));
  }

  get name(): string {
    return this.host.record().name;
  }

  get rules(): RoleRules {
    return this.#rules;
  }

  get now(): () => number {
    return this.#now;
  }

  /** What it still waits for; null once it is ready. */
  get notReady(): string | null {
    return this.#notReady;
  }

  set notReady(text: string | null) {
    this.#notReady = text;
    this.#view = null;
  }

  /** What is needed to route a request. */
  view(): View {
    this.#view ??= viewOf({
      record: this.host.record(),
      settings: this.settings,
      hosts: this.#hosts,
      notReady: this.#notReady,
      facts: (server) => factsOf(this.#of(server.kind, server.name)),
    });
    return this.#view;
  }

  /** All tools as one list, as last read. */
  catalogue(): Catalogue {
    this.#catalogue ??= catalogueOf([
      { name: GATEWAY_SOURCE, tools: gatewayTools(this.host.record()) },
      ...this.backings.flatMap(({ server, mcp }) => (mcp === null ? [] : [{ name: server.name, tools: mcp.list.last?.tools ?? [] }])),
    ]);
    return this.#catalogue;
  }

  /** All tools as one list, each server's read again if it was read longer ago than that. One that is slow or away contributes its last list. */
  async freshCatalogue(olderThanMs = LIST_FRESH_MS): Promise<Catalogue> {
    await Promise.all(this.backings.map(({ mcp }) => mcp?.list.freshen(olderThanMs)));
    return this.catalogue();
  }

  /** Called after any server's list has changed. Returns how to end that. */
  onToolsChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How a server that serves tools is called. */
  callable(name: string): Callable {
    const mcp = this.backings.find(({ server, mcp }) => server.name === name && mcp !== null)?.mcp;
    const lanes = this.#lanes.get(name);
    if (mcp === null || mcp === undefined || lanes === undefined) throw new Error(`no server ${JSON.stringify(name)} serves tools`);
    return { link: mcp.link, lanes };
  }

  /** Somebody asks for the deployment: what was let go while nobody did is taken up again. */
  used(): void {
    for (const { mcp } of this.backings) mcp?.watch.used();
  }

  /** Ends a caller's sessions with all servers. */
  endCaller(caller: string): void {
    for (const lanes of this.#lanes.values()) lanes.end(caller);
  }

  /** Fields on everything that the gateway sends to a server. */
  readonly #fields = (): [string, string][] => [[HOPS_FIELD, "1"]];

  /** The gateway's card. Waits only for cards that were never read, and at most 5 s. */
  async card(): Promise<JsonObject> {
    const children = this.backings.filter(({ server }) => server.svc !== false);
    const never = children.filter(({ served, cardReadAtMs }) => served === null && cardReadAtMs === 0);
    for (const backing of children) this.#freshenCard(backing);
    if (never.length > 0) await within(Promise.all(never.map((backing) => this.readCard(backing))), CARD_WAIT_MS);
    return composedCard(this.name, children.flatMap(childOf));
  }

  #freshenCard(backing: Backing): void {
    if (this.#now() - backing.cardReadAtMs < CARD_FRESH_MS) return;
    backing.cardReadAtMs = this.#now();
    this.host.background(this.readCard(backing));
  }

  /** Reads a server's card and draws what follows from it. */
  async readCard(backing: Backing): Promise<CardReading> {
    const reading = await readCard(this.host, backing.server.url);
    backing.cardReadAtMs = this.#now();
    const trouble = reading.is === "unsettled" ? reading.reason : null;
    if ((trouble === null) !== (backing.cardTrouble === null)) backing.sinceMs = this.#now();
    backing.cardTrouble = trouble;
    if (reading.is === "unsettled") return reading;
    backing.isSettled = true;
    if (reading.is === "card") await this.#takeCard(backing, reading.served);
    else if (reading.warning === null) this.#forgetCard(backing);
    else this.warn(backing, reading.warning);
    return reading;
  }

  async #takeCard(backing: Backing, served: ServedCard): Promise<void> {
    const { sql } = this.host;
    const { name } = backing.server;
    const key = serviceKey(backing.server);
    if (JSON.stringify(served.raw) !== JSON.stringify(backing.served?.raw)) {
      sql.exec("INSERT OR REPLACE INTO cards (server, card) VALUES (?, ?)", key, JSON.stringify(served.raw));
      for (const path of reservedPaths(served.card, ownOrigins(backing.server))) {
        backing.reserved.set(JSON.stringify(path), path);
        sql.exec("INSERT OR IGNORE INTO reserved (server, path) VALUES (?, ?)", key, JSON.stringify(path));
      }
      backing.served = served;
      this.#view = null;
    }
    if (backing.server.kind === "website" && backing.mcp === null) await this.#takeInterface(backing, served.card, name);
  }

  #forgetCard(backing: Backing): void {
    if (backing.served === null) return;
    backing.served = null;
    this.host.sql.exec("DELETE FROM cards WHERE server = ?", serviceKey(backing.server));
    this.#view = null;
  }

  /** A site whose card declares an MCP interface is one more MCP server. */
  async #takeInterface(backing: Backing, card: Card, name: string): Promise<void> {
    const endpoint = declaredEndpoint(backing.server, card);
    if (endpoint === null) return;
    if (endpoint === "elsewhere")
      return this.warn(backing, "its card declares an MCP endpoint on another origin, which is never contacted");
    if (this.backings.some(({ server }) => server.kind === "mcp" && server.name === name))
      return this.warn(
        backing,
        `website ${JSON.stringify(name)} serves tools, but MCP server ${JSON.stringify(name)} has that name: its tools are not listed`,
      );
    const mcp = this.#mcp(backing, endpoint.url);
    backing.mcp = mcp;
    if (await mcp.link.probe()) await mcp.list.read();
    else mcp.link.lost(mcp.link.state.reason ?? "no answer");
  }

  /** Says once what is wrong with a server that is served all the same. */
  warn(backing: Backing, warning: string): void {
    if (backing.warnings.has(warning)) return;
    backing.warnings.add(warning);
    this.host.log(`warning: ${backing.server.name}: ${warning}`);
  }

  #of(kind: DeployedServer["kind"], name: string): Backing {
    const backing = this.backings.find(({ server }) => server.kind === kind && server.name === name);
    if (backing === undefined) throw new Error(`no ${kind} ${JSON.stringify(name)}`);
    return backing;
  }

  /** A server with what was remembered of it. */
  #backing(server: DeployedServer): Backing {
    const { sql } = this.host;
    const key = serviceKey(server);
    const card = sql.exec("SELECT card FROM cards WHERE server = ?", key)[0]?.["card"];
    const reading = typeof card === "string" ? readingOf(200, card) : null;
    const reserved = sql.exec("SELECT path FROM reserved WHERE server = ?", key).map((row) => String(row["path"]));
    const backing: Backing = {
      server,
      mcp: null,
      served: reading?.is === "card" ? reading.served : null,
      isSettled: false,
      cardReadAtMs: 0,
      cardTrouble: null,
      sinceMs: this.#now(),
      isListDue: false,
      warnings: new Set(),
      reserved: new Map(reserved.map((path): [string, Segments] => [path, JSON.parse(path)])),
    };
    if (server.kind === "mcp") backing.mcp = this.#mcp(backing, endpointOf(server));
    return backing;
  }

  #mcp(backing: Backing, endpoint: string) {
    const { host, settings } = this;
    const { name } = backing.server;
    let lastId = 0;
    const wire: Wire = { host, url: endpoint, maxBytes: settings.maxMessageBytes, fields: this.#fields, nextId: () => ++lastId };
    const own = new UpstreamSession(wire, null, () => undefined);
    const watch = new Watch({
      wire,
      own,
      now: this.#now,
      heard: (message) => this.#heard(backing, message),
      gone: (reason) => link.lost(reason),
    });
    const cameUp = () => {
      watch.open();
      this.#cameUp(backing);
    };
    const link = new Link({ wire, own, waitMs: settings.upstreamWaitMs, now: this.#now, cameUp });
    const stored = host.sql.exec("SELECT tools FROM tool_lists WHERE server = ?", serviceKey(backing.server))[0]?.["tools"];
    const tools = typeof stored === "string" ? storedTools(stored) : null;
    const list = new ToolList({ link, own, now: this.#now, stored: tools, changed: (reading) => this.#toolsChanged(backing, reading) });
    this.#lanes.set(name, new Lanes({ host, server: name, wire, now: this.#now }));
    return { endpoint, link, list, watch };
  }

  #cameUp(backing: Backing): void {
    if (this.#notReady !== null || backing.mcp === null) return;
    this.host.background(backing.mcp.list.read());
  }

  /** A server's own notifications. A list that changes more than once at a time is read once. */
  #heard(backing: Backing, message: JsonObject): void {
    if (message["method"] !== "notifications/tools/list_changed" || backing.isListDue) return;
    backing.isListDue = true;
    const reading = pause(LIST_CHANGES_MS).then(() => {
      backing.isListDue = false;
      return backing.mcp?.list.read();
    });
    this.host.background(reading);
  }

  #toolsChanged(backing: Backing, reading: ToolReading): void {
    const tools = JSON.stringify(reading.tools);
    this.host.sql.exec("INSERT OR REPLACE INTO tool_lists (server, tools) VALUES (?, ?)", serviceKey(backing.server), tools);
    this.#catalogue = null;
    for (const listener of this.#listeners) listener();
  }
}

function childOf(backing: Backing): Child[] {
  const { served, server } = backing;
  return served === null ? [] : [{ key: encodeURIComponent(serviceKey(server)), raw: served.raw, origins: ownOrigins(server) }];
}

function storedTools(text: string): ListedTool[] {
  const items = parseJson(text);
  return Array.isArray(items) ? items.filter(isListedTool) : [];
}
