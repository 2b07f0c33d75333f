import type { JsonObject } from "@agent-env/protocol";
import type { RoleBook } from "../deployment/role-rules.ts";
import { eventId, type Trajectory } from "../deployment/trajectory.ts";
import type { WriteWindows } from "../deployment/write-windows.ts";
import type { Host } from "../seam.ts";
import { sha256Hex } from "../sha256.ts";
import { isTrue } from "./check.ts";
import { ExecutorFailed, instruct } from "./executor.ts";
import { redacted } from "./redacted.ts";
import type { Said } from "./said.ts";
import type { Check, TriggerAction } from "./spec.ts";
import { filled, NoValue } from "./template.ts";
import { executorNamed, type Fire, type Trigger, type TriggerConfig } from "./trigger.ts";

/** Calls a tool for a trigger, as a role or as nobody. */
export type CallTool = (call: { readonly tool: string; readonly args: JsonObject; readonly role: string | null }) => Promise<Said>;
/** What an executor at work does is caused by this. */
export type Cause = { readonly trigger_id: string; readonly action_index: number; readonly fire: number };

export type ActionParts = {
  readonly host: Host;
  readonly trajectory: Trajectory;
  readonly windows: WriteWindows;
  readonly roles: RoleBook;
  readonly call: CallTool;
  readonly config: () => TriggerConfig;
  readonly event: (event: JsonObject) => void;
};

type Doing = { readonly trigger: Trigger; readonly fire: Fire; readonly at: number };

/** Why an action didn't do what it should. */
export class ActionFailed extends Error {}

const SOURCE = "trigger_engine";

/** Does what triggers say, and writes down what came of it. */
export class Actions {
  readonly #parts: ActionParts;
  /** Per role of an executor that is at work, by what. */
  readonly #causes = new Map<string, Cause[]>();

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  /** What a role's calls are caused by, while it is an executor at work. */
  causesOf(role: string): readonly Cause[] {
    return this.#causes.get(role) ?? [];
  }

  /** Does one action. Throws `ActionFailed`, after it has said so. */
  async run(doing: Doing): Promise<void> {
    const action = doing.trigger.spec.actions[doing.at];
    if (action === undefined) throw new Error(`no action ${doing.at}`);
    try {
      await this.#act(action, doing);
    } catch (error) {
      if (!(error instanceof ExecutorFailed || error instanceof NoValue)) throw error;
      this.#say("action_failed", doing, { error: error.message });
      throw new ActionFailed(error.message, { cause: error });
    }
  }

  async #act(action: TriggerAction, doing: Doing): Promise<void> {
    if (action.type === "tool") await this.#tool(action, doing);
    else if (action.type === "permission") this.#permission(action, doing);
    else await this.#instruct(action, doing);
    if (action.verify === undefined || (await this.#isVerified(action.verify, action, doing))) return;
    if (action.type === "nl" && !doing.trigger.isRemoved) {
      await this.#instruct(action, doing);
      if (await this.#isVerified(action.verify, action, doing)) return;
    }
    throw new ActionFailed("its verify doesn't hold");
  }

  async #tool({ tool, args = {}, as }: Extract<TriggerAction, { type: "tool" }>, doing: Doing): Promise<void> {
    const { host, trajectory, windows, call } = this.#parts;
    const { trigger, fire, at } = doing;
    const given = filled(args, { args: fire.args, result: fire.result });
    const before = (await host.changes?.lastId()) ?? null;
    const said = await call({ tool, args: given, role: as ?? null });
    const after = (await host.changes?.lastId()) ?? null;
    const named = { trigger_id: trigger.id, action_index: at, tool };
    const ids = { changelog_id_before: before, changelog_id_after: after };
    const n = trajectory.append({
      event_type: "internal_tool_call",
      source: SOURCE,
      ...named,
      arguments: redacted(given),
      as: as ?? null,
      ok: !said.isError,
      result_len: said.text.length,
      result_sha256: sha256Hex(said.text).slice(0, 16),
      ...ids,
    });
    windows.add(n, { before, after }, { kind: "trigger_action", event_id: eventId(n), ...named, role: as ?? null });
    const detail = { tool, args: redacted(given), ...(as === undefined ? {} : { as }) };
    this.#say(said.isError ? "action_failed" : "action_ok", doing, { detail, ...(said.isError ? { error: said.text } : {}), ...ids });
    if (said.isError) throw new ActionFailed(`${tool}: ${said.text}`);
  }

  #permission({ action, role, tools }: Extract<TriggerAction, { type: "permission" }>, doing: Doing): void {
    this.#parts.roles.apply({ role, tools: Array.isArray(tools) ? tools : [tools], enabled: action === "enable" });
    this.#say("action_ok", doing, { detail: { role, action, tools } });
  }

  async #instruct(action: Extract<TriggerAction, { type: "nl" }>, doing: Doing): Promise<void> {
    const { host, config } = this.#parts;
    const { trigger, fire, at } = doing;
    const executor = executorNamed(config(), action.executor);
    if (executor === null) throw new ExecutorFailed("its executor isn't registered any more");
    const cause = { trigger_id: trigger.id, action_index: at, fire: fire.n };
    this.#causes.set(executor.role, [...this.causesOf(executor.role), cause]);
    try {
      const order = { instruction: action.instruction, context: `trigger-${trigger.id}`, isStopped: () => trigger.isRemoved };
      await instruct(host, executor, order);
    } finally {
      this.#causes.set(
        executor.role,
        this.causesOf(executor.role).filter((each) => each !== cause),
      );
    }
    this.#say("action_ok", doing, { detail: { executor: action.executor ?? null, as: executor.role } });
  }

  async #isVerified(check: Check, action: TriggerAction, doing: Doing): Promise<boolean> {
    const { fire } = doing;
    const role = action.type === "tool" ? (action.as ?? null) : null;
    const ask = (tool: string, args: JsonObject) => this.#parts.call({ tool, args, role });
    const holds = await isTrue(check, { args: fire.args, result: fire.result }, ask);
    this.#say(holds ? "verify_ok" : "verify_failed", doing, {});
    return holds;
  }

  #say(kind: string, { trigger, at }: Doing, more: JsonObject): void {
    this.#parts.event({ kind, trigger_id: trigger.id, action_index: at, ...more });
  }
}
