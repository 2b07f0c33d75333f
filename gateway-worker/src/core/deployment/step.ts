import { isAllowed, isJsonObject, type JsonObject } from "@agent-env/protocol";
import type { Caller } from "../auth/caller.ts";
import type { Asked } from "../mcp/asking-back.ts";
import type { Calls } from "../mcp/calls.ts";
import { mayUse } from "./catalogue.ts";
import type { Deployment } from "./deployment.ts";
import { listedItem } from "./names.ts";
import { silentTurn } from "./silent-turn.ts";
import { shownTool } from "./state.ts";

export type StepAnswer = { readonly status: number; readonly body: JsonObject };

/** `POST /step`: tools without MCP, one call a request (3-wire §gateway). */
export class Step {
  readonly #deployment: Deployment;
  readonly #calls: Calls;

  constructor(deployment: Deployment, calls: Calls) {
    this.#deployment = deployment;
    this.#calls = calls;
  }

  /** The answer to a request's body, which is an object. */
  async answer({ role, owner }: Pick<Caller, "role" | "owner">, body: JsonObject): Promise<StepAnswer> {
    const { action } = body;
    if (action !== "list_tools" && action !== "call_tool")
      return problem(400, `Unknown action: ${JSON.stringify(action ?? null)}. Expected "list_tools" or "call_tool".`);
    await this.#deployment.freshCatalogue();
    const serving = this.#deployment.serving();
    if (serving.length > 0 && serving.every(({ mcp }) => mcp.base.last("tools") === null))
      return problem(503, "no server's tools could be listed yet");
    return action === "list_tools" ? this.#list(role) : await this.#call({ role, owner }, body);
  }

  #list(role: string): StepAnswer {
    const { rules, settings } = this.#deployment;
    const entries = this.#deployment.catalogue().tools.entries.filter((entry) => mayUse(rules, role, entry));
    return { status: 200, body: { tools: entries.map((entry) => shownTool(listedItem(entry, settings.toolNames))) } };
  }

  async #call({ role, owner }: Pick<Caller, "role" | "owner">, body: JsonObject): Promise<StepAnswer> {
    const { tool_name: name, arguments: args = {} } = body;
    if (typeof name !== "string" || name === "") return problem(400, "Missing or invalid 'tool_name' field");
    if (!isJsonObject(args)) return problem(400, "'arguments' must be a JSON object");
    const turn = silentTurn(role, owner);
    const entry = await this.#calls.tools.find(turn, name);
    const { rules } = this.#deployment;
    const allowed = entry === undefined ? isAllowed(rules, role, { name, hidden: false }) : mayUse(rules, role, entry);
    if (!allowed) return problem(403, `Tool '${name}' is disabled for role '${role}'`);
    if (entry === undefined) return problem(404, `Unknown tool: ${name}`);
    const params = { name, arguments: args };
    const message = { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params };
    const { asked, changelogId } = await this.#calls.tools.make(turn, { entry, message, params, args, source: "step_api" });
    return this.#shown(asked, { name, source: entry.source, changelogId });
  }

  #shown(asked: Asked, call: { name: string; source: string; changelogId: number | null }): StepAnswer {
    const { name, source, changelogId } = call;
    if (asked === null) return failed("cancelled", `${source}: the call was cancelled; it may have run`);
    if ("trouble" in asked) {
      const { reason, detail } = asked.trouble;
      if (reason === "timeout")
        return problem(504, `Tool '${name}' timed out after ${this.#deployment.settings.toolCallTimeoutMs / 1000}s`);
      return failed(reason, `${source}: ${detail}`);
    }
    const { error, result } = "reply" in asked ? asked.reply : "required" in asked ? asked.required : asked.refused;
    if (isJsonObject(error)) return failed(`error ${String(error["code"])}`, `${source}: ${String(error["message"])}`);
    if (!isJsonObject(result)) return failed("bad_answer", `${source}: its result is no object`);
    if (result["resultType"] === "input_required") return failed("input_required", `${source}: it asks its caller, which /step can't`);
    return { status: 200, body: { isError: false, ...shownResult(result), changelog_id: changelogId } };
  }
}

function problem(status: number, error: string): StepAnswer {
  return { status, body: { error } };
}

function failed(kind: string, detail: string): StepAnswer {
  return problem(500, `Tool execution failed (${kind}): ${detail}`);
}

/** A call result without the keys that say nothing. */
function shownResult({ resultType, ...result }: JsonObject): JsonObject {
  const { content } = result;
  const kept = withoutNulls(result);
  return Array.isArray(content) ? { ...kept, content: content.map((item) => (isJsonObject(item) ? withoutNulls(item) : item)) } : kept;
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
