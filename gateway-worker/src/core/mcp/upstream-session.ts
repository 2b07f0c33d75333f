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
import { Fault, type Field, type Host } from "../seam.ts";
import { BadAnswer } from "./bad-answer.ts";
import { type Answered, exchange } from "./exchange.ts";

const OPENING_MS = 30_000;
const CLOSING_MS = 5_000;
/** What a session id may be in a header (MCP: visible ASCII). */
const USABLE_ID = /^[\x21-\x7e]{1,1024}$/;
const CLIENT_INFO = { name: "agent-env-gateway", version: "0.1.0" };

/** A session that a server has opened. `id` is missing where the server keeps none. */
export type OpenSession = { readonly id: string | undefined; readonly version: string };

/** How the server is reached. */
export type Wire = {
  readonly host: Host;
  readonly url: string;
  readonly maxBytes: number;
  readonly fields: () => Field[];
  /** Ids of the gateway's own, unique on this server. */
  readonly nextId: () => number;
};

/** A request to a server, without its id. */
export type Ask = {
  readonly message: JsonObject;
  readonly silenceMs: number;
  readonly heard: (message: JsonObject) => void | Promise<void>;
  /** Told the id under which it was sent: that is what a cancellation names. */
  readonly sent?: (id: number) => void;
  readonly signal?: AbortSignal;
};

/** The server doesn't take the session that it was given, twice in a row. */
export class SessionLost extends Error {}

/**
 * One caller's session with one server. It is opened at first use, once for all who wait, and opened anew when the server
 * has lost it: then the request that met that is sent once more (6-mcp §7).
 */
export class UpstreamSession {
  readonly #wire: Wire;
  readonly #remember: (session: OpenSession | null) => void;
  #open: Promise<OpenSession> | null;

  constructor(wire: Wire, stored: OpenSession | null, remember: (session: OpenSession | null) => void) {
    this.#wire = wire;
    this.#open = stored === null ? null : Promise.resolve(stored);
    this.#remember = remember;
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
      const heard = (said: JsonObject) => (said["id"] === undefined ? ask.heard(said) : this.#answer(session, said));
      const { silenceMs, signal } = ask;
      const answered = await exchange(this.#wire.host, { ...this.#post(session, { ...ask.message, id }), silenceMs, signal, heard });
      if (!(await this.#isLost(session, answered))) return answered;
      if (this.#open === opening) this.#forget();
      if (attempt > 0) throw new SessionLost(`HTTP ${answered.status} for a session just opened`);
    }
  }

  /** Sends a notification in the session, if it is open. Whether it arrives is the server's business. */
  async notify(message: JsonObject): Promise<void> {
    if (this.#open === null) return;
    const opening = this.#open;
    await unlessFailed(opening.then((session) => this.#tell(session, message)));
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

  /** Forgets the session without telling the server, which has lost it. */
  drop(): void {
    this.#forget();
  }

  #forget(): void {
    this.#open = null;
    this.#remember(null);
  }

  /** A server's own request: pings are answered, and no other capability was declared. */
  #answer(session: OpenSession, said: JsonObject): void {
    const id = said["id"];
    const reply =
      said["method"] === "ping" ? resultAnswer(id, {}) : errorAnswer(id, METHOD_NOT_FOUND, "this client declared no such capability");
    inBackground(this.#wire.host, unlessFailed(this.#tell(session, reply)));
  }

  /** Sends a message that gets no reply. */
  async #tell(session: OpenSession, message: JsonObject): Promise<void> {
    await exchange(this.#wire.host, { ...this.#post(session, message), silenceMs: OPENING_MS, heard: () => undefined });
  }

  #post(session: OpenSession | null, message: JsonObject) {
    const { url, maxBytes } = this.#wire;
    return { url, message, session: session?.id, version: session?.version, fields: this.#wire.fields(), maxBytes };
  }

  async #handshake(): Promise<OpenSession> {
    const { host, nextId } = this.#wire;
    const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT_INFO };
    const message = { jsonrpc: "2.0", id: nextId(), method: "initialize", params };
    const rest = { silenceMs: OPENING_MS, heard: () => undefined };
    const answered = await exchange(host, { ...this.#post(null, message), ...rest });
    const session = { id: answered.session, version: versionIn(answered) };
    if (session.id !== undefined && !USABLE_ID.test(session.id)) throw new BadAnswer("its session id is no visible ASCII");
    await this.#tell(session, { jsonrpc: "2.0", method: "notifications/initialized" });
    this.#remember(session);
    return session;
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
  if (status !== 200 || !isJsonObject(result)) throw new BadAnswer(`HTTP ${status}${errorCodeIn(reply)} for initialize`);
  const version = result["protocolVersion"];
  if (typeof version === "string" && isLegacyVersion(version)) return version;
  if (version === undefined) return ASSUMED_VERSION;
  throw new BadAnswer(`it speaks MCP ${JSON.stringify(version)}`);
}

function errorCodeIn(reply: JsonObject | undefined): string {
  const error = reply?.["error"];
  return isJsonObject(error) ? ` with error ${JSON.stringify(error["code"])}` : "";
}
