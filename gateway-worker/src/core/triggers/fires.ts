import { universeNow, writtenInstant } from "@agent-env/protocol";
import { inBackground } from "../background.ts";
import type { Clock } from "../deployment/clock.ts";
import { isoTime } from "../deployment/state.ts";
import type { Trajectory } from "../deployment/trajectory.ts";
import type { Host } from "../seam.ts";
import { ActionFailed, type Actions } from "./actions.ts";
import { isAtWork } from "./hours.ts";
import type { TriggerAction } from "./spec.ts";
import type { TriggerStore } from "./store.ts";
import { nthLength } from "./times.ts";
import { executorNamed, type Fire, type Provoking, type Trigger, type TriggerConfig, type Waiting } from "./trigger.ts";

export type FireParts = {
  readonly host: Host;
  readonly now: () => number;
  readonly clock: Clock;
  readonly trajectory: Trajectory;
  readonly store: TriggerStore;
  readonly actions: Actions;
  readonly config: () => TriggerConfig;
  readonly say: (event: Record<string, unknown>) => void;
  /** A trigger has fired well: others may wait for it. */
  readonly fired: (trigger: Trigger) => void;
  /** Something waits, or no longer. */
  readonly changed: () => void;
};

/** What has set a trigger off. */
export type Spark = { readonly provoking: Provoking; readonly args?: unknown; readonly result?: unknown; readonly mark?: bigint };

/** The goings-off of triggers: one after the other for each, all triggers side by side. */
export class Fires {
  readonly #parts: FireParts;
  readonly #done = new Map<number, PromiseWithResolvers<void>>();

  constructor(parts: FireParts) {
    this.#parts = parts;
  }

  /** A trigger goes off, now or after what it is at. Gives what is done when this fire is. */
  start(trigger: Trigger, spark: Spark): Promise<void> {
    const { store, clock, now, host } = this.#parts;
    const virtual = clock.armed === null ? null : universeNow(clock.armed, now());
    const since =
      spark.mark !== undefined ? { virtual: String(spark.mark) } : virtual === null ? { ms: now() } : { virtual: String(virtual) };
    const mark = spark.mark === undefined ? null : writtenInstant(spark.mark);
    const { provoking, args = null, result = null } = spark;
    const fire: Fire = { n: store.nextFire(), provoking, args, result, mark, since, begun: false, next: 0, delayed: false, waits: null };
    trigger.fires.push(fire);
    trigger.state.status = "firing";
    store.saveFire(trigger, fire);
    store.save(trigger);
    const done = Promise.withResolvers<void>();
    this.#done.set(fire.n, done);
    inBackground(host, this.work(trigger));
    return done.promise;
  }

  /** Does what waits at a trigger, as far as it can go now. */
  async work(trigger: Trigger): Promise<void> {
    if (trigger.isWorking) return;
    trigger.isWorking = true;
    try {
      for (let fire = trigger.fires[0]; fire !== undefined && !trigger.isRemoved; fire = trigger.fires[0]) {
        if (!(await this.#perform(trigger, fire))) break;
      }
    } finally {
      trigger.isWorking = false;
      this.#parts.changed();
    }
  }

  /** After a restart: what was at work has failed, what waited goes on waiting. */
  resume(trigger: Trigger): void {
    const [fire] = trigger.fires;
    if (fire?.begun === true && fire.waits === null) this.#settle(trigger, fire, "the gateway was restarted while it ran");
  }

  /** Ends all of a trigger's fires: nothing more of them is done. */
  cancel(trigger: Trigger): void {
    trigger.isRemoved = true;
    for (const fire of trigger.fires) this.#end(fire);
    trigger.fires.length = 0;
  }

  /** False: it waits. */
  async #perform(trigger: Trigger, fire: Fire): Promise<boolean> {
    const { store, actions, trajectory } = this.#parts;
    for (; fire.next < trigger.spec.actions.length; fire.next++, fire.delayed = false) {
      const action = trigger.spec.actions[fire.next];
      const waits = action === undefined ? null : this.#waitsFor(trigger, fire, action);
      if (waits !== null) {
        this.#wait(trigger, fire, waits);
        return false;
      }
      fire.waits = null;
      fire.delayed = true;
      if (!fire.begun)
        trajectory.append({ event_type: "trigger_fired", source: "trigger_engine", trigger_id: trigger.id, ...provokedBy(fire) });
      fire.begun = true;
      trigger.state.status = "firing";
      store.saveFire(trigger, fire);
      try {
        await actions.run({ trigger, fire, at: fire.next });
      } catch (error) {
        if (!(error instanceof ActionFailed)) throw error;
        if (!trigger.isRemoved) this.#settle(trigger, fire, error.message);
        return true;
      }
      if (trigger.isRemoved) return true;
    }
    if (!fire.begun)
      trajectory.append({ event_type: "trigger_fired", source: "trigger_engine", trigger_id: trigger.id, ...provokedBy(fire) });
    this.#settle(trigger, fire, null);
    return true;
  }

  #waitsFor(trigger: Trigger, fire: Fire, action: TriggerAction): Waiting | null {
    const { clock, now, config } = this.#parts;
    const nowMs = now();
    const virtual = clock.armed === null ? null : universeNow(clock.armed, nowMs);
    if (action.delay !== undefined && !fire.delayed) {
      const length = nthLength(action.delay, trigger.state.fire_count + trigger.state.failure_count);
      const due: Waiting =
        "virtual" in fire.since ? { virtual: String(BigInt(fire.since.virtual) + length) } : { ms: fire.since.ms + Number(length / 1000n) };
      if ("virtual" in due ? virtual === null || BigInt(due.virtual) > virtual : due.ms > nowMs) return due;
    }
    const executor = action.type === "nl" ? executorNamed(config(), action.executor) : null;
    const instant = virtual ?? BigInt(nowMs) * 1000n;
    if (executor?.hours !== undefined && !isAtWork(executor.hours, instant)) return { executor: executor.role };
    return null;
  }

  #wait(trigger: Trigger, fire: Fire, waits: Waiting): void {
    const { store, say } = this.#parts;
    const isNew = JSON.stringify(fire.waits) !== JSON.stringify(waits);
    fire.waits = waits;
    trigger.state.status = "queued";
    if (!isNew) return;
    store.saveFire(trigger, fire);
    store.save(trigger);
    const until =
      "virtual" in waits
        ? { until: writtenInstant(BigInt(waits.virtual)) }
        : "ms" in waits
          ? { until: isoTime(waits.ms) }
          : { executor: waits.executor };
    say({ kind: "executor" in waits ? "deferred" : "delayed", trigger_id: trigger.id, action_index: fire.next, ...until });
  }

  /** A fire has ended, well or with an error. */
  #settle(trigger: Trigger, fire: Fire, error: string | null): void {
    const { store, say, now, fired } = this.#parts;
    const { state, spec } = trigger;
    const { when } = spec;
    const isTime = when.type === "time";
    const marked = fire.mark === null ? {} : { mark: fire.mark };
    trigger.fires.shift();
    store.removeFire(fire);
    if (error === null) {
      state.fire_count++;
      state.fired_at = isoTime(now());
      say({ kind: "fired", trigger_id: trigger.id, fire_count: state.fire_count, ...marked });
    } else {
      state.failure_count++;
      state.last_failure_at = isoTime(now());
      say({ kind: "failed", trigger_id: trigger.id, failure_count: state.failure_count, error, ...marked });
    }
    if (error !== null && isTime) {
      state.nextMark = null;
      for (const other of trigger.fires.splice(0)) this.#end(other);
    }
    const isRecurring = isTime ? state.nextMark !== null : "repeat" in when && when.repeat === true;
    const idle = error === null ? (isRecurring ? "armed" : "fired") : isTime ? "failed" : "armed";
    state.status = trigger.fires.length > 0 ? "firing" : idle;
    store.save(trigger);
    this.#done.get(fire.n)?.resolve();
    this.#done.delete(fire.n);
    if (error === null) fired(trigger);
  }

  #end(fire: Fire): void {
    this.#parts.store.removeFire(fire);
    this.#done.get(fire.n)?.resolve();
    this.#done.delete(fire.n);
  }
}

/** Who or what it was, in the trajectory's words. */
function provokedBy({ provoking }: Fire): Record<string, unknown> {
  const { source, role, ...request } = provoking;
  if (source === "website") return { provoking_request: request };
  return "tool" in provoking ? { provoking_tool: provoking["tool"] } : {};
}
