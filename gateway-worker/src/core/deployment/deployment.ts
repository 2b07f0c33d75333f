import { type Card, type DeployedServer, isListedTool, type JsonObject, type ListedTool, type RoleRules } from "@agent-env/protocol";
import { ClockKey } from "../auth/clock-key.ts";
import { type Pages, SealedPages } from "../auth/pages.ts";
import { logBug } from "../background.ts";
import { capabilityKey, NOTHING } from "../mcp/capabilities.ts";
import type { Ask, ClientEra } from "../mcp/channel.ts";
import type { ListKind } from "../mcp/item-kinds.ts";
import { TaskBook } from "../mcp/task-book.ts";
import type { UpstreamServer } from "../mcp/upstream-server.ts";
import { type DefectKind, SiteDefects } from "../proxy/site/defects.ts";
import type { Host } from "../seam.ts";
import type { Settings } from "../settings.ts";
import type { CallTool } from "../triggers/actions.ts";
import { Triggers } from "../triggers/triggers.ts";
import { endpointOf, type HostRules, inToolOrder, serviceKey, type View, viewOf } from "../view.ts";
import { type Backing, declaredEndpoint, factsOf } from "./backing.ts";
import { backingMcp } from "./backing-mcp.ts";
import { offeredWarning } from "./browse-url.ts";
import { CallLog } from "./call-log.ts";
import { Cards, rememberedCards } from "./cards.ts";
import { type Catalogue, catalogueOf } from "./catalogue.ts";
import { Clock } from "./clock.ts";
import { GATEWAY_SOURCE, type GatewayFacts, GET_TIME_NAME, gatewayTools } from "./gateway-tools.ts";
import { RequestWatch } from "./request-watch.ts";
import { RoleBook } from "./role-rules.ts";
import { prepareTables } from "./schema.ts";
import { Sessions } from "./sessions.ts";
import { Trajectory } from "./trajectory.ts";
import { Vault } from "./vault.ts";
import { WriteWindows } from "./write-windows.ts";

const LIST_FRESH_MS = 30_000;

/** As which kind of client somebody sees the servers: some show more to clients that they can ask. */
export type Seen = { readonly era: ClientEra; readonly capabilities: JsonObject };
const PLAIN: Seen = { era: "any", capabilities: NOTHING };

/** What a server says to one caller outside of any call. `source` is the server. */
export type Heard = { readonly caller: string; readonly source: string; readonly message: JsonObject };
/** Who passes on what servers say and ask outside of any call. */
export type Ears = { readonly heard: (heard: Heard) => void; readonly asked: (caller: string) => Ask["asked"] };

/** One deployment: what the gateway knows of its servers, and what it remembers of its callers. */
export class Deployment {
  readonly host: Host;
  readonly settings: Settings;
  readonly now: () => number;
  readonly vault: Vault;
  readonly sessions: Sessions;
  readonly tasks: TaskBook;
  readonly pages: Pages;
  readonly clockKey: ClockKey;
  readonly cards: Cards;
  readonly roles: RoleBook;
  readonly clock: Clock;
  readonly trajectory: Trajectory;
  readonly callLog: CallLog;
  readonly windows: WriteWindows;
  readonly requestWatch: RequestWatch;
  readonly triggers: Triggers;
  /** In the order in which tools are listed. */
  readonly backings: readonly Backing[];
  readonly #hosts: HostRules;
  readonly #listeners = new Set<() => void>();
  #ears: Ears = { heard: () => undefined, asked: () => undefined };
  #notReady: string | null = "starting";
  #callForTriggers: CallTool = () => Promise.reject(new Error("nobody calls tools for triggers yet"));
  #view: View | null = null;
  /** By the kind of client. */
  readonly #catalogues = new Map<string, Catalogue>();

  constructor(host: Host, settings: Settings, hosts: HostRules, now: () => number = Date.now) {
    this.host = host;
    this.settings = settings;
    this.now = now;
    this.#hosts = hosts;
    prepareTables(host.sql);
    const record = host.record();
    const deployment = record.deployment_id ?? record.name;
    this.vault = new Vault(host.sql);
    this.sessions = new Sessions({
      sql: host.sql,
      vault: this.vault,
      deployment,
      idleMs: settings.sessionIdleMs,
      most: settings.maxSessions,
      now,
    });
    this.tasks = new TaskBook({ sql: host.sql, now, idleMs: settings.sessionIdleMs });
    this.clockKey = new ClockKey(this.vault, deployment);
    this.pages = new SealedPages({ sql: host.sql, committed: () => host.committed(), vault: this.vault, deployment, now });
    this.roles = new RoleBook({ sql: host.sql, changed: () => this.#listsChanged() });
    this.clock = new Clock({ sql: host.sql, now, changed: () => this.#clockChanged() });
    this.trajectory = new Trajectory({ host, now, clock: this.clock });
    this.windows = new WriteWindows(this.trajectory, host.sql);
    this.requestWatch = new RequestWatch({ host, trajectory: this.trajectory, windows: this.windows, triggers: () => this.triggers });
    const causesOf = (role: string) => this.triggers.causesOf(role);
    this.callLog = new CallLog({ host, trajectory: this.trajectory, windows: this.windows, causesOf });
    this.cards = new Cards({
      host,
      now,
      changed: () => this.#drawAgain(),
      taken: (backing, card) => this.#takeInterface(backing, card),
      warn: (backing, warning) => this.#warn(backing, warning),
    });
    this.backings = inToolOrder(record).map((server) => this.#backing(server));
    this.triggers = new Triggers({
      host,
      now,
      clock: this.clock,
      trajectory: this.trajectory,
      windows: this.windows,
      roles: this.roles,
      call: (call) => this.#callForTriggers(call),
      names: () => this.#nameable(),
      isReady: () => this.#notReady === null,
      changed: () => this.#drawAgain(),
    });
  }

  get name(): string {
    return this.host.record().name;
  }

  /** Who may use which tool. */
  get rules(): RoleRules {
    return this.roles.rules;
  }

  /** What the gateway's own tools tell of. */
  facts(): GatewayFacts {
    return { record: this.host.record(), clock: this.clock, now: this.now };
  }

  /** The tools that the gateway serves itself. */
  ownTools(): readonly ListedTool[] {
    return gatewayTools(this.facts(), this.serversHave(GET_TIME_NAME));
  }

  /** Whether any server has a tool of that name. */
  serversHave(tool: string): boolean {
    return this.serving().some(({ mcp }) => mcp.base.last("tools")?.items.some(({ name }) => name === tool) === true);
  }

  /** Its record says something else by now, though not of its servers. */
  noteRecord(): void {
    this.#drawAgain();
  }

  /** What it still waits for; null once it is ready. */
  get notReady(): string | null {
    return this.#notReady;
  }

  set notReady(text: string | null) {
    this.#notReady = text;
    this.#drawAgain();
  }

  /** What is needed to route a request. */
  view(): View {
    this.#view ??= viewOf({
      record: this.host.record(),
      settings: this.settings,
      hosts: this.#hosts,
      notReady: this.#notReady,
      clock: this.clock.armed,
      facts: (server) => factsOf(this.#of(server)),
      isWatched: (site) => this.triggers.watches(site),
    });
    return this.#view;
  }

  /** Gives triggers a way to call tools. */
  callForTriggersWith(call: CallTool): void {
    this.#callForTriggers = call;
  }

  /** All servers' lists as one, as last read. */
  catalogue(seen: Seen = PLAIN): Catalogue {
    const key = `${seen.era} ${capabilityKey(seen.capabilities)}`;
    const known = this.#catalogues.get(key);
    if (known !== undefined) return known;
    const sources = (kind: ListKind) => this.serving().map(({ name, mcp }) => ({ name, items: itemsOf(mcp, kind, seen) }));
    const own = { name: GATEWAY_SOURCE, items: this.ownTools() };
    const tools = sources("tools").map(({ name, items }) => ({ name, items: items.filter(isListedTool) }));
    const catalogue = catalogueOf([own, ...tools], sources, this.settings.toolNames);
    this.#catalogues.set(key, catalogue);
    return catalogue;
  }

  /** The same, after reading again what was read longer ago than that. A server that is slow or away contributes its last list. */
  async freshCatalogue(options: { seen?: Seen; kinds?: readonly ListKind[]; olderThanMs?: number } = {}): Promise<Catalogue> {
    const { seen = PLAIN, kinds = ["tools"], olderThanMs = LIST_FRESH_MS } = options;
    const readings = this.serving().flatMap(({ mcp }) =>
      kinds.map((kind) => mcp.view(seen.era, seen.capabilities).freshen(kind, olderThanMs)),
    );
    for (const reading of await Promise.allSettled(readings)) if (reading.status === "rejected") logBug(this.host, reading.reason);
    return this.catalogue(seen);
  }

  /** A legacy client asks: what the servers are to such clients is known from then on, as far as they answer. */
  async meetLegacy(): Promise<void> {
    const unmet = this.serving().filter(({ mcp }) => mcp.isLegacyUnmet);
    if (unmet.length > 0) await Promise.all(unmet.map(({ mcp }) => mcp.meetLegacy()));
  }

  /** The servers that speak MCP, in the order of their lists. */
  serving(): { readonly name: string; readonly mcp: UpstreamServer }[] {
    return this.backings.flatMap(({ server, mcp }) => (mcp === null ? [] : [{ name: server.name, mcp }]));
  }

  /** A server has said something to one caller outside of any call. */
  hear(heard: Heard): void {
    this.#ears.heard(heard);
  }

  /** Passes on what servers say to one caller outside of any call. */
  listenWith(ears: Ears): void {
    this.#ears = ears;
  }

  /** Called after any server's list has changed. */
  onListsChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** How the tools of a server in the catalogue are called. */
  mcpOf(name: string): UpstreamServer {
    const mcp = this.backings.find(({ server, mcp }) => server.name === name && mcp !== null)?.mcp;
    if (mcp === null || mcp === undefined) throw new Error(`no server ${JSON.stringify(name)} serves tools`);
    return mcp;
  }

  /** Somebody asks for the deployment: what was let go while nobody did is taken up again. */
  used(): void {
    for (const { mcp } of this.backings) mcp?.used();
  }

  /** A caller is still there: its sessions with servers aren't idle. */
  keepCaller(caller: string): void {
    for (const { mcp } of this.backings) mcp?.lanes.keep(caller);
  }

  /** Ends a caller's sessions with all servers. */
  endCaller(caller: string): void {
    for (const { mcp } of this.backings) mcp?.lanes.end(caller);
  }

  /** The gateway's card. */
  card(): Promise<JsonObject> {
    return this.cards.composed(this.name, this.backings);
  }

  /** Counts what a site does that a prefix can't carry, and says it once. */
  noteDefect(site: string, kind: DefectKind, at: string): void {
    const backing = this.backings.find(({ server }) => server.kind === "website" && server.name === site);
    if (backing?.defects.add(kind, at) === true) this.host.log(`warning: ${site}: ${backing.defects.lines().at(-1)}`);
  }

  /** The servers that are children of the gateway's card. */
  children(): Promise<Backing[]> {
    return this.cards.children(this.backings);
  }

  /** A site's tools are where its card said before the deployment's object left memory. */
  takeRemembered(backing: Backing): void {
    if (backing.served !== null) backing.mcp ??= this.#declaredMcp(backing, backing.served.card);
  }

  /** A site whose card declares an MCP interface is one more MCP server. */
  async #takeInterface(backing: Backing, card: Card): Promise<void> {
    if (backing.mcp !== null) return;
    const mcp = this.#declaredMcp(backing, card);
    if (mcp === null) return;
    backing.mcp = mcp;
    if (await mcp.link.probe()) await mcp.base.read();
    else mcp.link.lost(mcp.link.state.reason ?? "no answer");
  }

  /** What a site's card declares, if it may be used. */
  #declaredMcp(backing: Backing, card: Card): UpstreamServer | null {
    const { kind, name } = backing.server;
    const endpoint = kind === "website" ? declaredEndpoint(backing.server, card) : null;
    if (endpoint === null) return null;
    const quoted = JSON.stringify(name);
    const isTaken = this.backings.some(({ server }) => server.kind === "mcp" && server.name === name);
    if (endpoint === "elsewhere") this.#warn(backing, "its card declares an MCP endpoint on another origin, which is never contacted");
    else if (isTaken)
      this.#warn(backing, `website ${quoted} serves tools, but MCP server ${quoted} has that name: its tools are not listed`);
    else return this.#mcp(backing, endpoint.url);
    return null;
  }

  /** Says once what is wrong with a server that is served all the same. */
  #warn(backing: Backing, warning: string): void {
    if (backing.warnings.has(warning)) return;
    backing.warnings.add(warning);
    this.host.log(`warning: ${backing.server.name}: ${warning}`);
  }

  #of(server: DeployedServer): Backing {
    const backing = this.backings.find((each) => each.server.kind === server.kind && each.server.name === server.name);
    if (backing === undefined) throw new Error(`no ${server.kind} ${JSON.stringify(server.name)}`);
    return backing;
  }

  /** A server with what was remembered of it. */
  #backing(server: DeployedServer): Backing {
    const backing: Backing = {
      server,
      mcp: null,
      ...rememberedCards(this.host.sql, serviceKey(server)),
      isSettled: false,
      cardReadAtMs: 0,
      cardTrouble: null,
      sinceMs: this.now(),
      warnings: new Set(),
      defects: new SiteDefects(),
    };
    if (server.kind === "mcp") backing.mcp = this.#mcp(backing, endpointOf(server));
    const offered = server.kind === "website" ? offeredWarning(this.host.record(), server) : null;
    if (offered !== null) this.#warn(backing, offered);
    return backing;
  }

  #mcp(backing: Backing, endpoint: string): UpstreamServer {
    const { host, settings, now } = this;
    const cares = {
      host,
      settings,
      now,
      isReady: () => this.#notReady === null,
      time: () => this.clock.written(),
      listsChanged: () => this.#listsChanged(),
      isNeeded: (source: string, lane: string) => this.tasks.isNeeded(source, lane),
      heard: (caller: string, message: JsonObject, source: string) => this.#ears.heard({ caller, source, message }),
      asked: (caller: string) => this.#ears.asked(caller),
    };
    return backingMcp(cares, backing, endpoint);
  }

  #listsChanged(): void {
    this.#catalogues.clear();
    for (const listener of this.#listeners) listener();
  }

  /** What triggers can name. */
  #nameable(): { tools: ReadonlySet<string> | null; websites: readonly string[] } {
    const isListed = this.serving().some(({ mcp }) => mcp.base.last("tools") !== null);
    const sites = this.backings.filter(({ server }) => server.kind === "website" && server.frontend_url !== undefined);
    return { tools: isListed ? new Set(this.catalogue().tools.byName.keys()) : null, websites: sites.map(({ server }) => server.name) };
  }

  /** Arming and clearing show and hide a tool, and stamp what is passed on. */
  #clockChanged(): void {
    this.triggers.clockChanged();
    this.#drawAgain();
    this.#listsChanged();
  }

  #drawAgain(): void {
    this.#view = null;
  }
}

function itemsOf(mcp: UpstreamServer, kind: ListKind, { era, capabilities }: Seen): readonly JsonObject[] {
  return mcp.last(kind, mcp.view(era, capabilities))?.items ?? [];
}
