import {
  ASSUMED_VERSION,
  BATCH_VERSION,
  INVALID_REQUEST,
  isJsonObject,
  isLegacyVersion,
  type JsonObject,
  LEGACY_VERSIONS,
  SESSION_HEADER,
  SESSION_NOT_FOUND,
  VERSION_HEADER,
} from "@agent-env/protocol";
import { callerOf, namedRoleOf } from "../auth/caller.ts";
import { corsFields, originProblem, preflightFields } from "../auth/origin.ts";
import type { Deployment } from "../deployment/deployment.ts";
import type { Session } from "../deployment/sessions.ts";
import type { In, Out } from "../seam.ts";
import { acceptedForms, isJsonType } from "./accept.ts";
import { Answer } from "./answer.ts";
import { Legacy, type Turn } from "./legacy.ts";
import { idOf, kindOf, readJson } from "./message.ts";
import { StreamPlaces } from "./stream-places.ts";
import { Streams } from "./streams.ts";

const METHODS = "POST, GET, DELETE";

/** `/mcp`: one MCP server over all servers of a deployment. */
export class McpEndpoint {
  readonly #deployment: Deployment;
  readonly #legacy: Legacy;
  readonly #places = new StreamPlaces();
  readonly #streams: Streams;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.#legacy = new Legacy(deployment);
    this.#streams = new Streams(deployment, this.#places);
  }

  /** Answers one request. The first rule of the ladder that fails answers (6-mcp §3). */
  async handle(request: In, out: Out): Promise<void> {
    this.#deployment.used();
    const cors = corsFields(request);
    const forms = acceptedForms(request.header("accept"));
    const answer = new Answer(out, forms, cors);
    const problem = originProblem(this.#deployment.view(), request);
    const isPreflight = request.method === "OPTIONS";
    if (problem !== null && !(isPreflight && problem.status === 401))
      return answer.refuse(problem.status, { id: null, code: INVALID_REQUEST, message: problem.body.error }, problem.headers);
    if (isPreflight) return out.reply(204, preflightFields(request));
    if (request.method === "GET") return this.#openStream(request, out, answer, forms.sse);
    if (request.method === "DELETE") return this.#endSession(request, out, answer);
    if (request.method !== "POST") return refuseMethod(answer);
    if (!isJsonType(request.header("content-type"))) return refuse(answer, 415, "Content-Type must be application/json");
    if (!forms.json && !forms.sse) return refuse(answer, 406, "Accept must allow application/json or text/event-stream");

    const read = await readJson(this.#deployment.host, request, this.#deployment.settings.maxMessageBytes);
    if ("problem" in read) return answer.refuse(read.problem.status, { id: null, ...read.problem });
    await this.#take(request, answer, read.value, forms.sse);
  }

  async #take(request: In, answer: Answer, body: unknown, takesStream: boolean): Promise<void> {
    const id = idOf(body);
    const messages = Array.isArray(body) ? body : [body];
    const version = request.header(VERSION_HEADER);
    if (!messages.every(isMessage) || messages.length === 0) return refuse(answer, 400, "the body is no JSON-RPC message", id);
    if (version !== undefined && !isLegacyVersion(version))
      return refuse(answer, 400, `MCP ${JSON.stringify(version)} is not served here; ${LEGACY_VERSIONS.join(", ")} are`, id);
    const session = await this.#session(request);
    if (session === null) return answer.refuse(404, { id, code: SESSION_NOT_FOUND, message: "session not found" });
    if (Array.isArray(body) && (session?.version ?? version ?? ASSUMED_VERSION) !== BATCH_VERSION)
      return refuse(answer, 400, `a batch is only taken in MCP ${BATCH_VERSION}`);

    if (takesStream && messages.some(isCall) && this.#places.isFull(session?.key)) return refuseStream(answer, id);

    answer.streamsOnlyIn(() => this.#places.take(session?.key));
    const role = session?.role ?? callerOf(request).role;
    const turn: Turn = { answer, role, session, caller: session === undefined ? `role ${role}` : session.key };
    if (Array.isArray(body)) await this.#legacy.batch(turn, messages);
    else if (messages[0] !== undefined) await this.#legacy.message(turn, messages[0]);
  }

  /** The session of a request: undefined without an id, null for one that is unknown to this caller. */
  async #session(request: In): Promise<Session | undefined | null> {
    const id = request.header(SESSION_HEADER);
    return id === undefined ? undefined : await this.#deployment.sessions.find(id, namedRoleOf(request));
  }

  async #openStream(request: In, out: Out, answer: Answer, takesStream: boolean): Promise<void> {
    const session = await this.#session(request);
    if (session === undefined) return refuseMethod(answer);
    if (session === null) return answer.refuse(404, { id: null, code: SESSION_NOT_FOUND, message: "session not found" });
    if (!takesStream) return refuse(answer, 406, "Accept must allow text/event-stream");
    if (!this.#streams.open(session, out, corsFields(request))) return refuseStream(answer, null);
  }

  async #endSession(request: In, out: Out, answer: Answer): Promise<void> {
    const session = await this.#session(request);
    if (session === undefined) return refuseMethod(answer);
    if (session === null) return answer.refuse(404, { id: null, code: SESSION_NOT_FOUND, message: "session not found" });
    this.#deployment.sessions.close(session);
    this.#streams.close(session);
    this.#deployment.endCaller(session.key);
    await this.#deployment.host.committed();
    out.reply(200, [["content-length", "0"], ...corsFields(request)]);
  }
}

function isMessage(value: unknown): value is JsonObject {
  return isJsonObject(value) && kindOf(value) !== null;
}

/** What may be answered as a stream. */
function isCall(message: JsonObject): boolean {
  return message["method"] === "tools/call";
}

function refuse(answer: Answer, status: number, message: string, id: unknown = null): void {
  answer.refuse(status, { id, code: INVALID_REQUEST, message });
}

function refuseStream(answer: Answer, id: unknown): void {
  answer.refuse(429, { id, code: INVALID_REQUEST, message: "too many streams are open" }, [["retry-after", "1"]]);
}

function refuseMethod(answer: Answer): void {
  answer.refuse(405, { id: null, code: INVALID_REQUEST, message: "method not allowed" }, [["allow", METHODS]]);
}
