import {
  ASSUMED_VERSION,
  BATCH_VERSION,
  CAPABILITIES_META_KEY,
  type GatewayError,
  INVALID_REQUEST,
  isJsonObject,
  isLegacyVersion,
  type JsonObject,
  LEGACY_VERSIONS,
  LOG_LEVEL_META_KEY,
  PARAM_HEADER_PREFIX,
  SESSION_HEADER,
  SESSION_NOT_FOUND,
  VERSION_HEADER,
} from "@agent-env/protocol";
import type { Caller } from "../auth/caller.ts";
import { mcpCorsFields, mcpPreflightFields } from "../auth/cors.ts";
import type { Admission } from "../auth/gate.ts";
import { originProblem } from "../auth/origin.ts";
import { inBackground } from "../background.ts";
import type { Deployment, Heard } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { Field, In, Out } from "../seam.ts";
import { sha256Hex } from "../sha256.ts";
import { acceptedForms, isJsonType } from "./accept.ts";
import { Answer } from "./answer.ts";
import { Calls } from "./calls.ts";
import { askableIn, capabilityKey, keptCapabilities, NOTHING } from "./capabilities.ts";
import { Legacy } from "./legacy.ts";
import { Listens } from "./listens.ts";
import { isLogLevel } from "./log-level.ts";
import { idOf, kindOf, readJson } from "./message.ts";
import { Modern } from "./modern.ts";
import { isModernRequest, isModernVersion } from "./modern-check.ts";
import { Questions } from "./questions.ts";
import { Replays } from "./replay.ts";
import { Requests } from "./requests.ts";
import { ResourceRoutes } from "./resource-routes.ts";
import { StreamPlaces } from "./stream-places.ts";
import { Streams } from "./streams.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { Turn } from "./turn.ts";

const METHODS = "POST, GET, DELETE";
const TRACING = ["traceparent", "tracestate", "baggage"];

/** A request and who makes it. */
type Asked = { readonly request: In; readonly caller: Caller };

/** `/mcp`: one MCP server over all servers of a deployment. */
export class McpEndpoint {
  readonly calls: Calls;
  readonly #deployment: Deployment;
  readonly #legacy: Legacy;
  readonly #modern: Modern;
  readonly #places: StreamPlaces;
  readonly #streams: Streams;
  readonly #listens: Listens;
  readonly #subscriptions: Subscriptions;
  readonly #questions: Questions;
  readonly #replays: Replays;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    const routes = new ResourceRoutes(deployment);
    this.#places = new StreamPlaces(deployment.settings);
    const questions = new Questions(deployment.settings);
    const subscriptions = new Subscriptions(deployment, routes);
    const calls = new Calls(deployment, questions, routes);
    this.calls = calls;
    const requests = new Requests(deployment, calls);
    this.#replays = new Replays(deployment.now);
    this.#questions = questions;
    this.#subscriptions = subscriptions;
    this.#streams = new Streams({ deployment, places: this.#places, requests, replays: this.#replays });
    this.#listens = new Listens({ deployment, requests, subscriptions });
    this.#legacy = new Legacy({ deployment, requests, calls, questions, subscriptions });
    this.#modern = new Modern({ deployment, requests, calls, listens: this.#listens });
    deployment.listenWith({
      heard: (heard) => this.#hear(heard),
      asked: (caller) => {
        const session = ownerOf(caller);
        if (!this.#streams.has(session)) return undefined;
        return (request) => questions.ask(session, request, (question) => this.#streams.send(session, question));
      },
    });
  }

  /** Answers one request. The first rule of the ladder that fails answers (6-mcp §3). */
  async handle(request: In, admission: Admission, out: Out): Promise<void> {
    this.#deployment.used();
    const view = this.#deployment.view();
    const cors = mcpCorsFields(view, request);
    const forms = acceptedForms(request.header("accept"));
    const answer = new Answer(out, forms, cors);
    const foreign = originProblem(view, request);
    if (foreign !== null) return refuseAs(answer, foreign);
    if (request.method === "OPTIONS") return out.reply(204, mcpPreflightFields(view, request));
    if ("error" in admission) return refuseAs(answer, admission.error);
    if (!("caller" in admission)) throw new Error("/mcp is no page");
    const { caller } = admission;
    const isModern = isModernVersion(request.header(VERSION_HEADER));
    if (request.method === "GET" && !isModern) return this.#openStream({ request, caller }, out, answer, forms.sse);
    if (request.method === "DELETE" && !isModern) return this.#endSession({ request, caller }, out, answer);
    if (request.method !== "POST") return refuseMethod(answer, isModern ? "POST" : METHODS);
    if (!isJsonType(request.header("content-type"))) return refuse(answer, 415, "Content-Type must be application/json");
    if (!forms.json && !forms.sse) return refuse(answer, 406, "Accept must allow application/json or text/event-stream");

    const read = await readJson(this.#deployment.host, request, this.#deployment.settings.maxMessageBytes);
    if ("problem" in read) return answer.refuse(read.problem.status, { id: null, ...read.problem });
    this.#deployment.host.observer?.current()?.asks(read.value);
    const version = request.header(VERSION_HEADER);
    if (isModernRequest(read.value, version)) await this.#takeModern({ request, caller }, answer, read.value);
    else await this.#takeLegacy({ request, caller }, answer, read.value, version);
  }

  async #takeModern({ request, caller }: Asked, answer: Answer, body: unknown): Promise<void> {
    if (!isMessage(body)) return refuse(answer, 400, "the body is no JSON-RPC message", idOf(body));
    if (this.#places.isFull(undefined)) return refuseStream(answer, idOf(body));
    const meta = isJsonObject(body["params"]) && isJsonObject(body["params"]["_meta"]) ? body["params"]["_meta"] : {};
    const capabilities = keptCapabilities(meta[CAPABILITIES_META_KEY]);
    const level = meta[LOG_LEVEL_META_KEY];
    answer.streamsAs({
      era: "modern",
      place: () => this.#places.take(undefined),
      replay: null,
      isPrimed: false,
      now: this.#deployment.now,
    });
    const turn: Turn = {
      era: "modern",
      answer,
      role: caller.role,
      owner: caller.owner,
      namedSession: caller.session,
      session: undefined,
      caller: sharedCaller(caller.owner, capabilities),
      capabilities,
      logLevel: isLogLevel(level) ? level : undefined,
      fields: passedOn(request),
    };
    await this.#modern.message(turn, request, body);
  }

  async #takeLegacy(asked: Asked, answer: Answer, body: unknown, version: string | undefined): Promise<void> {
    const id = idOf(body);
    const messages = Array.isArray(body) ? body : [body];
    if (!messages.every(isMessage) || messages.length === 0) return refuse(answer, 400, "the body is no JSON-RPC message", id);
    if (version !== undefined && !isLegacyVersion(version))
      return refuse(answer, 400, `MCP ${JSON.stringify(version)} is not served here; ${LEGACY_VERSIONS.join(", ")} are`, id);
    const session = await this.#session(asked);
    if (session === null) return answer.refuse(404, { id, code: SESSION_NOT_FOUND, message: "session not found" });
    if (Array.isArray(body) && (session?.version ?? version ?? ASSUMED_VERSION) !== BATCH_VERSION)
      return refuse(answer, 400, `a batch is only taken in MCP ${BATCH_VERSION}`);
    if (answer.canStream && messages.some(isCall) && this.#places.isFull(session?.key)) return refuseStream(answer, id);
    const turn = this.#legacyTurn(asked, answer, session);
    if (Array.isArray(body)) await this.#legacy.batch(turn, messages);
    else if (messages[0] !== undefined) await this.#legacy.message(turn, messages[0]);
  }

  #legacyTurn({ request, caller }: Asked, answer: Answer, session: Session | undefined): Turn {
    const { role, owner } = session ?? caller;
    answer.streamsAs({
      era: "legacy",
      place: () => this.#places.take(session?.key),
      replay: session === undefined ? null : () => this.#replays.open(session.key),
      isPrimed: session?.version === LEGACY_VERSIONS[0],
      now: this.#deployment.now,
    });
    const shared = { era: "legacy", answer, role, owner, namedSession: undefined, session, fields: passedOn(request) } as const;
    if (session === undefined) return { ...shared, caller: sharedCaller(owner, NOTHING), capabilities: NOTHING, logLevel: null };
    const declared = askableIn(session.version, session.capabilities);
    const logLevel = this.#deployment.sessions.level(session);
    if (answer.canStream) return { ...shared, caller: session.key, capabilities: declared, logLevel };
    return { ...shared, caller: `${session.key} unasked`, capabilities: NOTHING, logLevel };
  }

  /** The session of a request: undefined without an id, null for one that is unknown to this caller. */
  async #session({ request, caller }: Asked): Promise<Session | undefined | null> {
    const id = request.header(SESSION_HEADER);
    return id === undefined ? undefined : await this.#deployment.sessions.find(id, caller);
  }

  async #openStream(asked: Asked, out: Out, answer: Answer, takesStream: boolean): Promise<void> {
    const { request } = asked;
    const session = await this.#session(asked);
    if (session === undefined) return refuseMethod(answer, METHODS);
    if (session === null) return answer.refuse(404, { id: null, code: SESSION_NOT_FOUND, message: "session not found" });
    if (!takesStream) return refuse(answer, 406, "Accept must allow text/event-stream");
    const options = { fields: mcpCorsFields(this.#deployment.view(), request), lastEventId: request.header("last-event-id") };
    if (!this.#streams.open(session, out, options)) return refuseStream(answer, null);
    inBackground(this.#deployment.host, this.#subscriptions.resume(session));
  }

  async #endSession(asked: Asked, out: Out, answer: Answer): Promise<void> {
    const session = await this.#session(asked);
    if (session === undefined) return refuseMethod(answer, METHODS);
    if (session === null) return answer.refuse(404, { id: null, code: SESSION_NOT_FOUND, message: "session not found" });
    this.#deployment.sessions.close(session);
    this.#streams.close(session);
    this.#subscriptions.forget(session.key);
    this.#questions.forget(session.key);
    this.#replays.forget(session.key);
    this.#deployment.endCaller(session.key);
    this.#deployment.tasks.forget(session.key);
    await this.#deployment.host.committed();
    out.reply(200, [["content-length", "0"], ...mcpCorsFields(this.#deployment.view(), asked.request)]);
  }

  /** What a server says to one caller outside of any call goes to its listen, or to its session's stream. */
  #hear({ caller, source, message }: Heard): void {
    const owner = ownerOf(caller);
    if (this.#listens.hear(owner, source, message)) return;
    const shown = this.#shownTo(owner, source, message);
    if (shown !== null) this.#streams.send(owner, shown);
  }

  #shownTo(owner: string, source: string, message: JsonObject): JsonObject | null {
    if (message["method"] === "notifications/resources/updated") return this.#subscriptions.shownTo(owner, source, message);
    return message["method"] === "notifications/tasks/status" ? this.calls.tasks.shownStatus(owner, source, message) : message;
  }
}

/** A caller's upstream sessions may have more to their name. */
function ownerOf(caller: string): string {
  return caller.split(" ")[0] ?? caller;
}

/** Whose upstream sessions a request without a session uses: those of its caller and of what can be asked. */
function sharedCaller(owner: string, capabilities: JsonObject): string {
  const key = capabilityKey(capabilities);
  return key === capabilityKey(NOTHING) ? owner : `${owner} ${sha256Hex(key).slice(0, 16)}`;
}

function passedOn(request: In): Field[] {
  return request.headers().filter(([name]) => TRACING.includes(name) || name.startsWith(PARAM_HEADER_PREFIX));
}

function isMessage(value: unknown): value is JsonObject {
  return isJsonObject(value) && kindOf(value) !== null;
}

/** What may be answered as a stream. */
function isCall(message: JsonObject): boolean {
  return message["method"] === "tools/call";
}

function refuseAs(answer: Answer, { status, body, headers }: GatewayError): void {
  answer.refuse(status, { id: null, code: INVALID_REQUEST, message: body.error }, headers);
}

function refuse(answer: Answer, status: number, message: string, id: unknown = null): void {
  answer.refuse(status, { id, code: INVALID_REQUEST, message });
}

function refuseStream(answer: Answer, id: unknown): void {
  answer.refuse(429, { id, code: INVALID_REQUEST, message: "too many streams are open" }, [["retry-after", "1"]]);
}

function refuseMethod(answer: Answer, allow: string): void {
  answer.refuse(405, { id: null, code: INVALID_REQUEST, message: "method not allowed" }, [["allow", allow]]);
}
