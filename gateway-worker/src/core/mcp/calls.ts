import { errorAnswer, INVALID_PARAMS, isJsonObject, type JsonObject, RESOURCE_NOT_FOUND } from "@agent-env/protocol";
import type { Deployment } from "../deployment/deployment.ts";
import type { Entry } from "../deployment/names.ts";
import { ToolCalls } from "../deployment/tool-calls.ts";
import { type Asked, AskingBack } from "./asking-back.ts";
import type { Outcome } from "./link.ts";
import type { Questions } from "./questions.ts";
import { Relay, type Target } from "./relay.ts";
import type { ResourceRoutes } from "./resource-routes.ts";
import { plainReply } from "./results.ts";
import { Tasks } from "./tasks.ts";
import { own, type Reply, type Turn } from "./turn.ts";

/** A name that no list has is looked for once more in lists that are older than this. */
const LOOK_AGAIN_MS = 1_000;

const CHANGES_TASK: readonly unknown[] = ["tasks/cancel", "tasks/update"];

/** Requests for one server: each goes to the one that has what they name. */
export class Calls {
  readonly tools: ToolCalls;
  readonly tasks: Tasks;
  readonly #deployment: Deployment;
  readonly #relay: Relay;
  readonly #asking: AskingBack;
  readonly #routes: ResourceRoutes;

  constructor(deployment: Deployment, questions: Questions, routes: ResourceRoutes) {
    this.#deployment = deployment;
    this.#relay = new Relay(deployment, questions);
    this.#asking = new AskingBack(deployment, this.#relay, questions);
    this.#routes = routes;
    this.tasks = new Tasks(deployment);
    this.tools = new ToolCalls({ deployment, asking: this.#asking, routes, tasks: this.tasks });
  }

  /** The reply to a `prompts/get`. */
  async prompt(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id, params } = message;
    const name = isJsonObject(params) ? params["name"] : undefined;
    if (!isJsonObject(params) || typeof name !== "string") return own(errorAnswer(id, INVALID_PARAMS, "params.name must be a string"));
    const entry = await this.#prompt(turn, name);
    if (entry === undefined) return own(errorAnswer(id, INVALID_PARAMS, `Unknown prompt: ${name}`));
    turn.answer.mayTakeLong();
    return await this.#plain(turn, message, { source: entry.source, params: { ...params, name: entry.name } });
  }

  /** The reply to a `resources/read`: of the first server that has it. */
  async read(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id, params } = message;
    const uri = isJsonObject(params) ? params["uri"] : undefined;
    if (!isJsonObject(params) || typeof uri !== "string") return own(errorAnswer(id, INVALID_PARAMS, "params.uri must be a string"));
    turn.answer.mayTakeLong();
    const places = await this.#routes.placesOf(turn, uri);
    for (const place of places) {
      const reply = await this.#plain(turn, message, { source: place.source, params: { ...params, uri: place.uri } });
      if (reply === null || places.length === 1 || isJsonObject(reply.message["result"])) return this.#asUnknown(turn, reply);
    }
    return own(errorAnswer(id, turn.era === "modern" ? INVALID_PARAMS : RESOURCE_NOT_FOUND, "Resource not found", { uri }));
  }

  /** The reply to a `completion/complete`. */
  async complete(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id, params } = message;
    const ref = isJsonObject(params) ? params["ref"] : undefined;
    if (!isJsonObject(params) || !isJsonObject(ref)) return own(errorAnswer(id, INVALID_PARAMS, "params.ref must be an object"));
    const { name, uri } = ref;
    if (typeof uri === "string") {
      const [place] = await this.#routes.placesOf(turn, uri);
      if (place !== undefined)
        return await this.#plain(turn, message, { source: place.source, params: { ...params, ref: { ...ref, uri: place.uri } } });
    }
    const entry = typeof name === "string" ? await this.#prompt(turn, name) : undefined;
    if (entry === undefined) return own(errorAnswer(id, INVALID_PARAMS, `Unknown reference: ${String(name ?? uri)}`));
    return await this.#plain(turn, message, { source: entry.source, params: { ...params, ref: { ...ref, name: entry.name } } });
  }

  /** The reply to a request about a task: of the server that has issued it, in the session in which it was made. */
  async task(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id, method, params } = message;
    const task = this.tasks.named(turn, params);
    if (typeof task === "string" || !isJsonObject(params))
      return own(errorAnswer(id, INVALID_PARAMS, typeof task === "string" ? task : "params must be an object"));
    turn.answer.mayTakeLong();
    const target = { source: task.server, params: { ...params, taskId: task.id }, mayRepeat: !CHANGES_TASK.includes(method), madeIn: task };
    return await this.#plain(turn, message, target, (outcome) => this.tasks.answered(task, outcome));
  }

  /** Cancels the call that a notification names, at its server, under the server's id. */
  cancel(turn: Turn, params: unknown): void {
    this.#relay.cancel(turn, params);
  }

  async #prompt(turn: Turn, name: string): Promise<Entry | undefined> {
    const known = this.#deployment.catalogue(turn).prompts.byName.get(name);
    const fresh = { seen: turn, kinds: ["prompts"], olderThanMs: LOOK_AGAIN_MS } as const;
    return known ?? (await this.#deployment.freshCatalogue(fresh)).prompts.byName.get(name);
  }

  /** What only reads may be sent twice, also where the server refused it. */
  async #plain(
    turn: Turn,
    message: JsonObject,
    to: Pick<Target, "source" | "params"> & Partial<Target>,
    shown: (outcome: Outcome) => Outcome = (outcome) => outcome,
  ): Promise<Reply> {
    const target = { mayRepeat: true, fields: [], ...to };
    const first = await this.#asking.send(turn, message, target);
    const isRefused = first !== null && "trouble" in first && first.trouble.reason === "refused";
    const asked = isRefused && target.mayRepeat ? await this.#asking.send(turn, message, target) : first;
    return replyTo(asked, (outcome) => plainReply(message["id"], shown(outcome), to.source));
  }

  /** A modern server says otherwise that it has no such resource than legacy clients know. */
  #asUnknown(turn: Turn, reply: Reply): Reply {
    const error = reply?.message["error"];
    const isUnknown = isJsonObject(error) && error["code"] === INVALID_PARAMS && isJsonObject(error["data"]) && "uri" in error["data"];
    if (reply === null || turn.era === "modern" || !isUnknown) return reply;
    return { ...reply, message: { ...reply.message, error: { ...error, code: RESOURCE_NOT_FOUND } } };
  }
}

function replyTo(asked: Asked, shown: (outcome: Outcome) => Reply): Reply {
  if (asked === null) return null;
  if ("required" in asked) return own(asked.required);
  return "refused" in asked ? own(asked.refused) : shown(asked);
}
