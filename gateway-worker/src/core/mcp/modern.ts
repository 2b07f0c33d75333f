import { INVALID_REQUEST, isJsonObject, type JsonObject, MODERN_VERSION, resultAnswer, SERVER_INFO_META_KEY } from "@agent-env/protocol";
import type { Deployment } from "../deployment/deployment.ts";
import type { In } from "../seam.ts";
import type { Calls } from "./calls.ts";
import type { Listens } from "./listens.ts";
import { kindOf } from "./message.ts";
import { headerProblem, type ModernProblem, metaProblem } from "./modern-check.ts";
import type { Requests } from "./requests.ts";
import { modernReply, modernStatus, NOT_KEPT } from "./results.ts";
import type { Turn } from "./turn.ts";

export type ModernParts = {
  readonly deployment: Deployment;
  readonly requests: Requests;
  readonly calls: Calls;
  readonly listens: Listens;
};

const OWN_METHODS: readonly unknown[] = ["server/discover", "subscriptions/listen"];
const LISTS = /^(tools|prompts|resources|resources\/templates)\/list$/;

/** The revision without a handshake, served as one server over all servers (6-mcp). */
export class Modern {
  readonly #parts: ModernParts;

  constructor(parts: ModernParts) {
    this.#parts = parts;
  }

  /** Answers one message, which has been found to be none of legacy. */
  async message(turn: Turn, request: In, message: JsonObject): Promise<void> {
    const { id = null } = message;
    const { answer } = turn;
    const kind = kindOf(message);
    if (kind === "response") return answer.refuse(400, { id, code: INVALID_REQUEST, message: "a modern client sends no responses" });
    const problem = await this.#problem(turn, request, message);
    if (problem !== null) return answer.refuse(problem.status, { id, ...problem });
    if (kind === "notification") return answer.accepted();
    if (message["method"] === "server/discover") return answer.finish(resultAnswer(id, this.#discovery()));
    if (message["method"] === "subscriptions/listen") return await this.#listen(turn, message);
    const reply = await this.#parts.requests.handlerOf(message["method"], "modern")?.(turn, message);
    if (reply === null || reply === undefined) return answer.abandon();
    const shown = modernReply(message["method"], this.#withHints(message["method"], reply.message));
    answer.finish(shown, { status: modernStatus(shown) });
  }

  async #problem(turn: Turn, request: In, message: JsonObject): Promise<ModernProblem | null> {
    const { requests, calls } = this.#parts;
    const name = isJsonObject(message["params"]) ? message["params"]["name"] : undefined;
    const tool = message["method"] === "tools/call" && typeof name === "string" ? await calls.tools.find(turn, name) : undefined;
    const isServed = (method: unknown): boolean =>
      kindOf(message) === "notification" || OWN_METHODS.includes(method) || requests.handlerOf(method, "modern") !== undefined;
    return headerProblem({ message, fields: request.headers(), tool: tool?.item }) ?? metaProblem(message, isServed);
  }

  async #listen(turn: Turn, message: JsonObject): Promise<void> {
    const error = { id: message["id"], code: INVALID_REQUEST };
    if (!turn.answer.canStream) return turn.answer.refuse(406, { ...error, message: "Accept must allow text/event-stream" });
    if (!turn.answer.open()) return turn.answer.refuse(429, { ...error, message: "too many streams are open" }, [["retry-after", "1"]]);
    await this.#parts.listens.open(turn, message);
  }

  #discovery(): JsonObject {
    const { requests } = this.#parts;
    const instructions = requests.instructions("modern");
    return {
      resultType: "complete",
      supportedVersions: [MODERN_VERSION],
      capabilities: requests.capabilities("modern"),
      ...(instructions === undefined ? {} : { instructions }),
      ...NOT_KEPT,
      _meta: this.#meta(),
    };
  }

  /** What the gateway itself has made says who made it, and isn't to be kept. */
  #withHints(method: unknown, message: JsonObject): JsonObject {
    const { result } = message;
    if (!LISTS.test(String(method)) || !isJsonObject(result)) return message;
    return { ...message, result: { resultType: "complete", ...result, ...NOT_KEPT, _meta: this.#meta() } };
  }

  #meta(): JsonObject {
    return { [SERVER_INFO_META_KEY]: { name: this.#parts.deployment.name, version: "0.1.0" } };
  }
}
