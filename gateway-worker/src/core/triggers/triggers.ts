import { isJsonObject, type JsonObject, universeNow, writtenInstant } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Clock } from "../deployment/clock.ts";
import type { RoleBook } from "../deployment/role-rules.ts";
import { isoTime } from "../deployment/state.ts";
import type { Trajectory } from "../deployment/trajectory.ts";
import type { WriteWindows } from "../deployment/write-windows.ts";
import type { Host } from "../seam.ts";
import { Timer, within } from "../timing.ts";
import { Actions, type CallTool, type Cause } from "./actions.ts";
import { isTrue, isWhere } from "./check.ts";
import { Fires, type Spark } from "./fires.ts";
import { holds } from "./predicate.ts";
import { type Known, readRegistration, rolesOfExecutors } from "./registration.ts";
import { firstMark, takeDue } from "./schedule.ts";
import { shownWhen } from "./spec.ts";
import { TriggerStore } from "./store.ts";
import { NoValue } from "./template.ts";
import { parseDuration } from "./times.ts";
import { NO_CONFIG, type Trigger, type TriggerConfig } from "./trigger.ts";

const LOOK_MS = 1_000;
const MOST_DUE = 1_000;
const DEFAULT_HOLD_S = 30;

/** An external tool call that has been answered. */
export type Called = {
  readonly tool: string;
  readonly args: JsonObject;
  readonly role: string;
  readonly value: unknown;
  readonly isError: boolean;
  readonly readOnly: boolean;
};
/** A website's request that has been answered. */
export type Requested = {
  readonly app: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly role: string;
  readonly args: JsonObject;
  readonly isSafe: boolean;
};

export type TriggersParts = {
  readonly host: Host;
  readonly now: () => number;
  readonly clock: Clock;
  readonly trajectory: Trajectory;
  readonly windows: WriteWindows;
  readonly roles: RoleBook;
  readonly call: CallTool;
  /** What there is to name, when triggers are registered. */
  readonly names: () => Pick<Known, "tools" | "websites">;
  /** Nothing is done before the deployment is ready. */
  readonly isReady: () => boolean;
  /** Other requests than before may set something off. */
  readonly changed: () => void;
};

/** What happens by itself when something else has: registered from outside, and durable (3-wire §triggers). */
export class Triggers {
  readonly #parts: TriggersParts;
  readonly #store: TriggerStore;
  readonly #actions: Actions;
  readonly #fires: Fires;
  readonly #triggers = new Map<string, Trigger>();
  readonly #timer = new Timer();
  #config: TriggerConfig;

  constructor(parts: TriggersParts) {
    const { host, now, clock, trajectory } = parts;
    this.#parts = parts;
    this.#store = new TriggerStore(host.sql);
    this.#config = this.#store.config();
    const config = () => this.#config;
    const say = (event: JsonObject) => this.#say(event);
    this.#actions = new Actions({ ...parts, config, event: say });
    const fired = (trigger: Trigger) => this.#anchor(trigger);
    this.#fires = new Fires({
      host,
      now,
      clock,
      trajectory,
      store: this.#store,
      actions: this.#actions,
      config,
      say,
      fired,
      changed: () => this.lookLater(),
    });
    for (const trigger of this.#store.triggers()) this.#triggers.set(trigger.id, trigger);
    for (const trigger of this.#triggers.values()) this.#fires.resume(trigger);
    this.lookLater();
  }

  /** Whether there is none. */
  get isEmpty(): boolean {
    return this.#triggers.size === 0;
  }

  /** What a role's calls are caused by, while it is an executor at work. */
  causesOf(role: string): readonly Cause[] {
    return this.#actions.causesOf(role);
  }

  /** Adds all triggers of a request, or none. */
  register(body: JsonObject): JsonObject | { readonly problem: string } {
    const read = readRegistration(body, { ...this.#parts.names(), config: this.#config, triggers: this.#triggers });
    if ("problem" in read) return read;
    this.#config = read.config;
    this.#store.saveConfig(read.config);
    this.#store.add(read.added);
    for (const trigger of read.added) {
      this.#triggers.set(trigger.id, trigger);
      this.#mark(trigger);
      this.#say({ kind: "added", trigger_id: trigger.id });
    }
    this.#parts.changed();
    this.lookLater();
    return { ok: true, added: [...read.ids], all: [...this.#triggers.keys()] };
  }

  /** Takes triggers away; a fire that is at work is not gone on with. */
  remove(ids: readonly string[]): string[] {
    const removed = ids.filter((id) => {
      const trigger = this.#triggers.get(id);
      if (trigger === undefined) return false;
      this.#fires.cancel(trigger);
      this.#triggers.delete(id);
      this.#store.remove(id);
      this.#say({ kind: "removed", trigger_id: id });
      return true;
    });
    this.#parts.changed();
    return removed;
  }

  /** Forgets everything. */
  clear(): void {
    for (const trigger of this.#triggers.values()) this.#fires.cancel(trigger);
    this.#triggers.clear();
    this.#config = NO_CONFIG;
    this.#store.clear();
    this.#parts.changed();
  }

  /** Everything that is known, as `/triggers/state` shows it. */
  shown(): JsonObject {
    const { watch_roles, executor, executors } = this.#config;
    return {
      config: { watch_roles, executor_configured: executor !== null, executors: Object.keys(executors).sort() },
      triggers: [...this.#triggers.values()].map(shownTrigger),
      ...this.#store.events(),
    };
  }

  /** Whether a site's requests may set anything off. */
  watches(site: string): boolean {
    return [...this.#triggers.values()].some(({ spec: { when } }) => (when.type === "website" ? when.app === site : when.type === "state"));
  }

  /** The clock was set anew, or cleared: marks that depend on its start are others. */
  clockChanged(): void {
    for (const trigger of this.#triggers.values()) this.#mark(trigger);
    this.lookLater();
  }

  /** An external call was answered. Done when its answer may go out. */
  async called(call: Called): Promise<void> {
    if (this.#triggers.size === 0) return;
    this.#look();
    if (call.isError) return;
    const provoking = { tool: call.tool, role: call.role };
    const facts = { args: call.args, result: call.value };
    this.#cancelDeadlines(call, facts);
    const held: Held[] = [];
    for (const trigger of this.#triggers.values()) {
      const { when } = trigger.spec;
      if (when.type !== "action" || when.tool !== call.tool || !this.#mayProvoke(call.role, when.roles)) continue;
      if (this.#takes(trigger) && isWhere(when.where, facts)) this.#detect(trigger, { provoking, ...facts }, held);
    }
    if (!call.readOnly) await this.#checkStates(call.role, provoking);
    await this.#hold(held);
  }

  /** A website's request was answered. Done when its answer may go out. */
  async requested(request: Requested): Promise<void> {
    if (this.#triggers.size === 0) return;
    this.#look();
    const { app, method, path, status, role, args } = request;
    const provoking = { source: "website", app, method, path, status, role };
    const held: Held[] = [];
    for (const trigger of this.#triggers.values()) {
      const { when } = trigger.spec;
      if (when.type !== "website" || when.app !== app || !this.#mayProvoke(role, when.roles) || !this.#takes(trigger)) continue;
      if (when.method !== undefined && when.method !== method) continue;
      if (when.path !== undefined && !holds(when.path, path)) continue;
      if (when.status === undefined ? status >= 400 : !holds(when.status, status)) continue;
      if (isWhere(when.where, { args, result: undefined })) this.#detect(trigger, { provoking, args }, held);
    }
    if (!request.isSafe && status < 400) await this.#checkStates(role, provoking);
    await this.#hold(held);
  }

  /** What has come due, and what waited and may go on. */
  #look(): void {
    const { clock, now, host, isReady } = this.#parts;
    if (!isReady()) return;
    let budget = MOST_DUE;
    for (const trigger of this.#triggers.values()) {
      const { when } = trigger.spec;
      if (when.type === "time" && clock.armed !== null && trigger.state.nextMark !== null && isLive(trigger)) {
        const due = takeDue(trigger, when, { clock: clock.armed, now: universeNow(clock.armed, now()), budget });
        budget -= due.marks.length;
        const [first] = due.marks;
        const last = due.marks.at(-1);
        if (first !== undefined && last !== undefined) {
          const marks = { first_mark: writtenInstant(first), last_mark: writtenInstant(last) };
          const provoking = { source: "clock" };
          this.#saw(trigger, { provoking, due: due.marks.length, capped: due.capped, ...marks });
          for (const mark of due.marks) void this.#fires.start(trigger, { provoking, mark });
        }
      }
      if (trigger.fires.length > 0 && !trigger.isWorking) inBackground(host, this.#fires.work(trigger));
    }
  }

  /** Looks again in a second, as long as there is something that time alone can bring about. */
  lookLater(): void {
    const { clock, host } = this.#parts;
    const isDue = [...this.#triggers.values()].some(
      (trigger) =>
        (trigger.fires.length > 0 && !trigger.isWorking) || (clock.armed !== null && trigger.state.nextMark !== null && isLive(trigger)),
    );
    host.wakeAt?.(isDue ? Date.now() + LOOK_MS : null);
    if (!isDue) this.#timer.stop();
    else
      this.#timer.set(LOOK_MS, () => {
        this.#look();
        this.lookLater();
      });
  }

  #cancelDeadlines(call: Called, facts: { args: unknown; result: unknown }): void {
    for (const trigger of this.#triggers.values()) {
      const { when } = trigger.spec;
      if (when.type !== "time" || when.unless === undefined || trigger.state.status !== "armed") continue;
      const { tool, where, roles } = when.unless;
      if (tool !== call.tool || !this.#mayProvoke(call.role, roles) || !isWhere(where, facts)) continue;
      this.#cancel(trigger, { tool: call.tool, role: call.role });
    }
  }

  /** Cancels a deadline that was met, and what waits for it. */
  #cancel(trigger: Trigger, provoking: JsonObject): void {
    trigger.state.status = "cancelled";
    trigger.state.nextMark = null;
    this.#store.save(trigger);
    this.#say({ kind: "cancelled", trigger_id: trigger.id, provoking });
    for (const other of this.#triggers.values()) {
      const { when } = other.spec;
      if (when.type === "time" && when.after === trigger.id && other.state.nextMark === null && other.state.status === "armed")
        this.#cancel(other, provoking);
    }
  }

  async #checkStates(role: string, provoking: JsonObject): Promise<void> {
    for (const trigger of [...this.#triggers.values()]) {
      const { when } = trigger.spec;
      if (when.type !== "state" || !this.#takes(trigger) || !this.#mayProvoke(role, when.roles)) continue;
      const ask = (tool: string, args: JsonObject) => this.#parts.call({ tool, args, role: null });
      try {
        const isSo = await isTrue(when.check, {}, ask);
        // another call may have set it off meanwhile
        if (isSo && this.#takes(trigger)) this.#detect(trigger, { provoking }, []);
      } catch (error) {
        if (!(error instanceof NoValue)) throw error;
        this.#say({ kind: "eval_error", trigger_id: trigger.id, error: error.message });
      }
    }
  }

  #detect(trigger: Trigger, spark: Spark, held: Held[]): void {
    this.#saw(trigger, { provoking: spark.provoking });
    const done = this.#fires.start(trigger, spark);
    const { barrier } = trigger.spec;
    if (barrier) held.push({ trigger, done, seconds: barrier.timeout_seconds ?? DEFAULT_HOLD_S });
  }

  #saw(trigger: Trigger, more: JsonObject): void {
    trigger.state.detected_at = isoTime(this.#parts.now());
    this.#say({ kind: "detected", trigger_id: trigger.id, ...more });
  }

  /** Holds an answer back until what it has set off is done, or for as long as the most patient barrier. */
  async #hold(held: readonly Held[]): Promise<void> {
    await this.#parts.host.committed();
    if (held.length === 0) return;
    const seconds = Math.max(...held.map((each) => each.seconds));
    const open = new Set(held);
    const all = Promise.all(held.map((each) => each.done.then(() => open.delete(each))));
    if ((await within(all, seconds * 1000)) !== undefined) return;
    const ids = [...open].map(({ trigger }) => trigger.id);
    const late = {
      event_type: "trigger_barrier_timeout",
      source: "trigger_engine",
      at: "provoking_call",
      trigger_ids: ids,
      timeout_s: seconds,
    };
    this.#parts.trajectory.append(late);
  }

  /** What waits for a trigger's success counts from now. */
  #anchor(trigger: Trigger): void {
    const { clock, now } = this.#parts;
    for (const other of this.#triggers.values()) {
      const { when } = other.spec;
      if (when.type !== "time" || when.after !== trigger.id || clock.armed === null || !isLive(other)) continue;
      const mark = universeNow(clock.armed, now()) + (parseDuration(when.offset ?? "") ?? 0n);
      const kind = other.state.nextMark === null && other.state.marks === 0 ? "anchored" : "reanchored";
      other.state.nextMark = String(mark);
      this.#store.save(other);
      this.#say({ kind, trigger_id: other.id, mark: writtenInstant(mark) });
    }
    this.lookLater();
  }

  /** Sets the mark of a trigger that waits for the clock alone. */
  #mark(trigger: Trigger): void {
    const { when } = trigger.spec;
    const { armed } = this.#parts.clock;
    if (when.type !== "time" || when.after !== undefined || !isLive(trigger)) return;
    const mark = armed === null ? null : firstMark(when, armed);
    trigger.state.marks = 0;
    trigger.state.nextMark = mark === null ? null : String(mark);
    this.#store.save(trigger);
  }

  /** Whether a trigger can be set off now, or line up. */
  #takes({ spec: { when }, state }: Trigger): boolean {
    const isRepeated = "repeat" in when && when.repeat === true;
    return state.status === "armed" || (isRepeated && (state.status === "firing" || state.status === "queued"));
  }

  #mayProvoke(role: string, roles: readonly string[] | undefined): boolean {
    if (roles !== undefined) return roles.includes(role);
    return this.#config.watch_roles.includes(role) && !rolesOfExecutors(this.#config).includes(role);
  }

  #say(event: JsonObject): void {
    const { now, clock } = this.#parts;
    const virtual = clock.written();
    this.#store.event({ ts: isoTime(now()), ...(virtual === null ? {} : { virtual_time: virtual }), ...event });
  }
}

type Held = { readonly trigger: Trigger; readonly done: Promise<void>; readonly seconds: number };

function isLive({ state: { status } }: Trigger): boolean {
  return status === "armed" || status === "firing" || status === "queued";
}

function shownTrigger({ id, raw, spec, state, fires }: Trigger): JsonObject {
  const { marks, nextMark, ...shown } = state;
  const method = spec.when.type === "website" && spec.when.method !== undefined ? { method: spec.when.method } : {};
  return {
    id,
    type: spec.when.type,
    when: { ...shownWhen(isJsonObject(raw["when"]) ? raw["when"] : {}), ...method },
    ...shown,
    barrier: spec.barrier ?? null,
    pending: Math.max(0, fires.length - 1),
    waiting: fires[0]?.waits != null,
    next_mark: nextMark === null ? null : writtenInstant(BigInt(nextMark)),
  };
}
