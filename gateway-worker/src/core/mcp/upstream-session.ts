import {
  ASSUMED_VERSION,
  errorAnswer,
  isJsonObject,
  isLegacyVersion,
  type JsonObject,
  LATEST_LEGACY_VERSION,
  METHOD_NOT_FOUND,
  resultAnswer,
  SESSION_HEADER,
  VERSION_HEADER,
} from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import { Fault, type Field, type UpExchange } from "../seam.ts";
import { BadAnswer, HandshakeFailed } from "./bad-answer.ts";
import { type Ask, type Channel, CLIENT_INFO, type Wire } from "./channel.ts";
import { type Answered, exchange } from "./exchange.ts";

const OPENING_MS = 30_000;
const CLOSING_MS = 5_000;
const STREAM_IDLE_MS = 3_600_000;
/** What a session id may be in a header (MCP: visible ASCII). */
const USABLE_ID = /^[\x21-\x7e]{1,1024}$/;

/** A session that a server has opened. `id` is missing where the server keeps none. */
export type OpenSession = { readonly id: string | undefined; readonly version: string };

/** In how many sessions a request is tried: the one opened anew is lost too where the server starts again a second time. */
const MOST_SESSIONS = 3;

/** The server takes no session, not even one that it has just opened. */
export class SessionLost extends Error {}

export type UpstreamSessionOptions = {
  readonly wire: Wire;
  readonly stored?: OpenSession;
  /** What the caller can be asked for, as it declared it. */
  readonly capabilities: JsonObject;
  readonly remember?: (session: OpenSession | null) => void;
  /** Told what the server says of itself. */
  readonly greeted?: (result: JsonObject) => void;
};

/** What a session has been told, and has to be told again when it is opened anew. */
type Settings = { level: string | null; readonly subscriptions: Set<string> };

/**
 * One caller's session with one legacy server. It is opened at first use, once for all who wait, and opened anew when the
 * server has lost it: then the request that met that, and so was never run, is sent
 * again (6-mcp §7).
 */
export class UpstreamSession implements Channel {
  readonly era = "legacy";
  readonly #wire: Wire;
  readonly #options: UpstreamSessionOptions;
  readonly #settings: Settings = { level: null, subscriptions: new Set() };
  #open: Promise<OpenSession> | null;

  constructor(options: UpstreamSessionOptions) {
    this.#wire = options.wire;
    this.#options = options;
    this.#open = options.stored === undefined ? null : Promise.resolve(options.stored);
  }

  /** Which resources' changes the session is told of. Kept over a server's loss of it. */
  get subscriptions(): Set<string> {
    return this.#settings.subscriptions;
  }

  /** Asks the server for log lines of a level; kept likewise. */
  async setLevel(level: string): Promise<void> {
    if (this.#settings.level === level) return;
    this.#settings.level = level;
    if (this.#open !== null) await unlessFailed(this.#open.then((session) => this.#send(session, "logging/setLevel", { level })));
  }

  /** The open session. Throws `Fault` and `BadAnswer`: then nothing was sent besides the handshake. */
  opened(): Promise<OpenSession> {
    if (this.#open !== null) return this.#open;
    const opening = this.#handshake();
    this.#open = opening;
    opening.catch(() => {
      if (this.#open === opening) this.#open = null;
    });
    return opening;
  }

  /** Sends a request in the open session. */
  async request(ask: Ask): Promise<Answered> {
    for (let attempt = 0; ; attempt++) {
      const opening = this.opened();
      const session = await opening;
      const id = this.#wire.nextId();
      ask.sent?.(id);
      const heard = (said: JsonObject) => (said["id"] === undefined ? ask.heard(said) : this.answer(said, ask.asked));
      const { silenceMs, cancellation, paused } = ask;
      const post = this.#post(session, { ...ask.message, id }, ask.fields);
      const answered = await exchange(this.#wire.host, { ...post, silenceMs, cancellation, heard, paused });
      if (!(await this.#isLost(session, answered))) return answered;
      if (this.#open === opening) this.#forget();
      if (attempt + 1 >= MOST_SESSIONS) throw new SessionLost(`HTTP ${answered.status} for a session just opened`);
    }
  }

  /** Sends a notification in the session, if it is open. Whether it arrives is the server's business. */
  async notify(message: JsonObject): Promise<void> {
    if (this.#open === null) return;
    const opening = this.#open;
    await unlessFailed(opening.then((session) => this.#tell(session, message)));
  }

  /** The session's notification stream, to be listened to. A session that the server has lost is opened anew for it. */
  async stream(): Promise<UpExchange> {
    const opening = this.opened();
    const exchange = this.#askForStream(await opening);
    const response = await exchange.response;
    if (response.status !== 404 && response.status !== 400) return exchange;
    response.discard();
    if (this.#open === opening) this.#forget();
    return this.#askForStream(await this.opened());
  }

  #askForStream(session: OpenSession): UpExchange {
    const { host, url, fields } = this.#wire;
    const headers: Field[] = [
      ["accept", "text/event-stream"],
      ["accept-encoding", "identity"],
      [VERSION_HEADER, session.version],
    ];
    if (session.id !== undefined) headers.push([SESSION_HEADER, session.id]);
    return host.upstream({ method: "GET", url, headers: [...headers, ...fields()], body: null, idleMs: STREAM_IDLE_MS });
  }

  /** Ends the session at the server, as far as it answers within 5 s. */
  async close(): Promise<void> {
    const opening = this.#open;
    this.#forget();
    const session = opening === null ? undefined : await unlessFailed(opening);
    if (session?.id === undefined) return;
    const { host, url } = this.#wire;
    const fields: Field[] = [[SESSION_HEADER, session.id], [VERSION_HEADER, session.version], ...this.#wire.fields()];
    const ending = host.upstream({ method: "DELETE", url, headers: fields, body: null, idleMs: CLOSING_MS });
    await unlessFailed(ending.response.then((response) => response.discard()));
  }

  /** Forgets the session without telling the server, which may have lost it. */
  drop(): void {
    this.#forget();
  }

  #forget(): void {
    this.#open = null;
    this.#options.remember?.(null);
  }

  /** Answers a server's own request: pings here, others by `asked`, if the caller can be asked. */
  answer(said: JsonObject, asked: Ask["asked"]): void {
    const opening = this.#open;
    if (opening !== null) inBackground(this.#wire.host, unlessFailed(this.#reply(opening, said, asked)));
  }

  async #reply(opening: Promise<OpenSession>, said: JsonObject, asked: Ask["asked"]): Promise<void> {
    const id = said["id"];
    const refusal = errorAnswer(id, METHOD_NOT_FOUND, "this client declared no such capability");
    const reply = said["method"] === "ping" ? resultAnswer(id, {}) : asked === undefined ? refusal : await asked(said);
    await this.#tell(await opening, { ...reply, id });
  }

  async #send(session: OpenSession, method: string, params: JsonObject): Promise<void> {
    const message = { jsonrpc: "2.0", id: this.#wire.nextId(), method, params };
    await exchange(this.#wire.host, { ...this.#post(session, message), silenceMs: OPENING_MS, heard: () => undefined });
  }

  /** Sends a message that gets no reply. */
  async #tell(session: OpenSession, message: JsonObject): Promise<void> {
    await exchange(this.#wire.host, { ...this.#post(session, message), silenceMs: OPENING_MS, heard: () => undefined });
  }

  #post(session: OpenSession | null, message: JsonObject, more: readonly Field[] = []) {
    const { url, maxBytes, fields } = this.#wire;
    return { url, message, session: session?.id, version: session?.version, fields: [...fields(), ...more], maxBytes };
  }

  async #handshake(): Promise<OpenSession> {
    const { host, nextId } = this.#wire;
    const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities: this.#options.capabilities, clientInfo: CLIENT_INFO };
    const message = { jsonrpc: "2.0", id: nextId(), method: "initialize", params };
    const rest = { silenceMs: OPENING_MS, heard: () => undefined };
    const answered = await exchange(host, { ...this.#post(null, message), ...rest });
    const session = { id: answered.session, version: versionIn(answered) };
    if (session.id !== undefined && !USABLE_ID.test(session.id)) throw new BadAnswer("its session id is no visible ASCII");
    await this.#tell(session, { jsonrpc: "2.0", method: "notifications/initialized" });
    await this.#restore(session);
    this.#options.remember?.(session);
    const result = answered.reply?.["result"];
    if (isJsonObject(result)) this.#options.greeted?.(result);
    return session;
  }

  async #restore(session: OpenSession): Promise<void> {
    const { level, subscriptions } = this.#settings;
    if (level !== null) await this.#send(session, "logging/setLevel", { level });
    for (const uri of subscriptions) await this.#send(session, "resources/subscribe", { uri });
  }

  /** Decided by status, never by an error's wording. After a 400 a ping in the same session decides. */
  async #isLost(session: OpenSession, answered: Answered): Promise<boolean> {
    if (session.id === undefined) return false;
    if (answered.status === 404) return true;
    if (answered.status !== 400) return false;
    const ping = { jsonrpc: "2.0", id: this.#wire.nextId(), method: "ping" };
    const pinged = await exchange(this.#wire.host, { ...this.#post(session, ping), silenceMs: OPENING_MS, heard: () => undefined });
    return pinged.status === 400 || pinged.status === 404;
  }
}

/** The outcome, or undefined where the server is away or answers something that is no MCP. */
async function unlessFailed<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault || error instanceof BadAnswer) return undefined;
    throw error;
  }
}

/** The version that a server has answered `initialize` with. */
function versionIn({ status, reply }: Answered): string {
  const result = reply?.["result"];
  if (status !== 200 || !isJsonObject(result)) throw new HandshakeFailed(`HTTP ${status}${errorCodeIn(reply)} for initialize`);
  const version = result["protocolVersion"];
  if (typeof version === "string" && isLegacyVersion(version)) return version;
  if (version === undefined) return ASSUMED_VERSION;
  throw new HandshakeFailed(`it speaks MCP ${JSON.stringify(version)}`);
}

function errorCodeIn(reply: JsonObject | undefined): string {
  const error = reply?.["error"];
  return isJsonObject(error) ? ` with error ${JSON.stringify(error["code"])}` : "";
}
