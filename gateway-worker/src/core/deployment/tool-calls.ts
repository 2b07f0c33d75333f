import { DEFAULT_ROLE, errorAnswer, INVALID_PARAMS, isJsonObject, type JsonObject, resultAnswer } from "@agent-env/protocol";
import type { Asked, AskingBack } from "../mcp/asking-back.ts";
import { paramFields } from "../mcp/param-headers.ts";
import type { ResourceRoutes } from "../mcp/resource-routes.ts";
import { toolError, toolReply } from "../mcp/results.ts";
import type { Tasks } from "../mcp/tasks.ts";
import { own, type Reply, type Turn } from "../mcp/turn.ts";
import type { CallTool } from "../triggers/actions.ts";
import { type Said, saidIn } from "../triggers/said.ts";
import type { BegunCall, CallEnd } from "./call-log.ts";
import { mayRepeat, mayUse } from "./catalogue.ts";
import type { Deployment } from "./deployment.ts";
import { callGatewayTool, GATEWAY_SOURCE } from "./gateway-tools.ts";
import type { Entry } from "./names.ts";
import { OpenCalls } from "./open-calls.ts";
import { silentTurn } from "./silent-turn.ts";

/** A name that no list has is looked for once more in lists that are older than this. */
const LOOK_AGAIN_MS = 1_000;

/** A call of a tool that there is, and that its caller may use. */
export type ToolCall = {
  readonly entry: Entry;
  readonly message: JsonObject;
  readonly params: JsonObject;
  readonly args: JsonObject | null | undefined;
  readonly source?: "step_api";
};
/** What it came to. */
export type Made = { readonly asked: Asked; readonly changelogId: number | null };

/** Tool calls from outside: each goes to the server that has the tool, and is in the trajectory before it is answered. */
export class ToolCalls {
  readonly #deployment: Deployment;
  readonly #asking: AskingBack;
  readonly #routes: ResourceRoutes;
  readonly #tasks: Tasks;
  readonly #open = new OpenCalls<BegunCall>();

  constructor(parts: { deployment: Deployment; asking: AskingBack; routes: ResourceRoutes; tasks: Tasks }) {
    const { deployment } = parts;
    this.#deployment = deployment;
    this.#asking = parts.asking;
    this.#routes = parts.routes;
    this.#tasks = parts.tasks;
    deployment.callForTriggersWith((call) => this.#callForTrigger(call));
  }

  /** The tool of a name, if there is one. */
  async find(turn: Turn, name: string): Promise<Entry | undefined> {
    const known = this.#deployment.catalogue(turn).tools.byName.get(name);
    return known ?? (await this.#deployment.freshCatalogue({ seen: turn, olderThanMs: LOOK_AGAIN_MS })).tools.byName.get(name);
  }

  /** The reply to a `tools/call`. */
  async reply(turn: Turn, message: JsonObject): Promise<Reply> {
    const { id, params } = message;
    const name = isJsonObject(params) ? params["name"] : undefined;
    if (!isJsonObject(params) || typeof name !== "string") return own(errorAnswer(id, INVALID_PARAMS, "params.name must be a string"));
    const args = params["arguments"];
    if (args !== undefined && args !== null && !isJsonObject(args))
      return own(errorAnswer(id, INVALID_PARAMS, "params.arguments must be an object"));

    const entry = await this.find(turn, name);
    if (entry === undefined) return await this.#refused(turn, message, { name, args }, `Unknown tool: ${name}`);
    if (!mayUse(this.#deployment.rules, turn.role, entry))
      return await this.#refused(turn, message, { name, args }, `Tool '${name}' is disabled for role '${turn.role}'`);
    turn.answer.mayTakeLong();
    const { asked } = await this.make(turn, { entry, message, params, args });
    if (asked === null) return null;
    if ("required" in asked) return own(asked.required);
    return "refused" in asked ? own(asked.refused) : toolReply(id, asked, entry.source);
  }

  /** Makes a call. Done when it survives a kill of the gateway. */
  async make(turn: Turn, call: ToolCall): Promise<Made> {
    const { callLog } = this.#deployment;
    const state = call.params["requestState"];
    const begun = this.#open.take(state) ?? (await callLog.begin(factsOf(turn, call)));
    const asked = await this.#send(turn, call);
    const awaited = awaitedState(asked);
    if (awaited !== null) {
      this.#open.keep(awaited, begun);
      await callLog.committed();
      return { asked, changelogId: null };
    }
    const end = endOf(asked, call.entry.source);
    const changelogId = await callLog.end(begun, end);
    await this.#provoke(turn, call, end);
    await callLog.committed();
    return { asked, changelogId };
  }

  /** Lets triggers see an answered call: the answer may have to wait for what it sets off. */
  async #provoke(turn: Turn, { entry, args }: ToolCall, end: CallEnd): Promise<void> {
    const { triggers } = this.#deployment;
    if (triggers.isEmpty) return;
    const { isError, value } = saidOf(end);
    const { annotations } = entry.item;
    const readOnly = isJsonObject(annotations) && annotations["readOnlyHint"] === true;
    await triggers.called({ tool: entry.name, args: args ?? {}, role: turn.role, value, isError, readOnly });
  }

  /** A trigger's own call: of no role's rules, in no line, and provoking nothing. */
  async #callForTrigger({ tool, args, role }: Parameters<CallTool>[0]): Promise<Said> {
    const turn = { ...silentTurn(role ?? DEFAULT_ROLE, "trigger"), trigger: { role } };
    const entry = await this.find(turn, tool);
    if (entry === undefined) return { isError: true, value: null, text: `Unknown tool: ${tool}` };
    const params = { name: tool, arguments: args };
    const message = { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params };
    return saidOf(endOf(await this.#send(turn, { entry, message, params, args }), entry.source));
  }

  async #send(turn: Turn, { entry, message, params, args, source }: ToolCall): Promise<Asked> {
    if (entry.source === GATEWAY_SOURCE) {
      const result = callGatewayTool(this.#deployment.facts(), entry.name, args ?? {});
      return { reply: resultAnswer(message["id"], source === undefined ? result.mcp : result.step), status: 200, isStream: false };
    }
    const target = {
      source: entry.source,
      params: { ...params, name: entry.name },
      mayRepeat: mayRepeat(entry.item),
      fields: paramFields(entry.item, args),
    };
    const asked = await this.#asking.send(turn, message, target);
    if (asked !== null && "reply" in asked) this.#routes.note(entry.source, asked.reply["result"]);
    return this.#tasks.issued(turn, entry.source, params, asked);
  }

  /** A call that goes nowhere is told of too: who tried what is worth knowing. */
  async #refused(turn: Turn, message: JsonObject, tried: { name: string; args: unknown }, why: string): Promise<Reply> {
    const { callLog } = this.#deployment;
    const args = isJsonObject(tried.args) ? tried.args : {};
    const begun = await callLog.begin({ tool: tried.name, args, role: turn.role, isOwn: true });
    await callLog.end(begun, { error: why });
    await callLog.committed();
    return own(resultAnswer(message["id"], toolError(why)));
  }
}

function factsOf(turn: Turn, { entry, args, source }: ToolCall) {
  const shared = { tool: entry.name, args: args ?? {}, role: turn.role, isOwn: entry.source === GATEWAY_SOURCE };
  return source === undefined ? shared : { ...shared, source };
}

/** Under which state a call is gone on with that waits for its caller's answers; null for one that has ended. */
function awaitedState(asked: Asked): string | null {
  const message = asked === null ? undefined : "required" in asked ? asked.required : "reply" in asked ? asked.reply : undefined;
  const result = message?.["result"];
  if (!isJsonObject(result) || result["resultType"] !== "input_required") return null;
  return typeof result["requestState"] === "string" ? result["requestState"] : "";
}

function saidOf(end: CallEnd): Said {
  if ("error" in end) return { isError: true, value: null, text: end.error };
  return saidIn(isJsonObject(end.result) ? end.result : {});
}

function endOf(asked: Asked, source: string): CallEnd {
  if (asked === null) return { error: "cancelled by its caller" };
  if ("trouble" in asked) return { error: `${source}: ${asked.trouble.detail}` };
  const message = "reply" in asked ? asked.reply : "refused" in asked ? asked.refused : asked.required;
  const { error, result } = message;
  return isJsonObject(error) ? { error: `${source}: error ${String(error["code"])}: ${String(error["message"])}` } : { result };
}
