import type { JsonObject } from "@agent-env/protocol";
import type { Executor, TriggerSpec } from "./spec.ts";

export type Status = "armed" | "firing" | "queued" | "fired" | "failed" | "cancelled";

/** What a trigger has come to; all of it survives a restart. Instants are decimal texts of microseconds. */
export type TriggerState = {
  status: Status;
  detected_at: string | null;
  fired_at: string | null;
  fire_count: number;
  failure_count: number;
  last_failure_at: string | null;
  /** Marks that came due so far. */
  marks: number;
  nextMark: string | null;
};

/** Who or what has set a trigger off, as its events tell. */
export type Provoking = JsonObject;

/** What a fire waits for before its next action. */
export type Waiting = { readonly virtual: string } | { readonly ms: number } | { readonly executor: string };

/** One going off of a trigger. */
export type Fire = {
  readonly n: number;
  readonly provoking: Provoking;
  readonly args: unknown;
  readonly result: unknown;
  /** Of a time trigger: the mark that came due. */
  readonly mark: string | null;
  /** When it was provoked: in virtual time while the clock was armed, else by the machine's clock. */
  readonly since: { readonly virtual: string } | { readonly ms: number };
  begun: boolean;
  /** The action that comes next, and whether its delay is over. */
  next: number;
  delayed: boolean;
  waits: Waiting | null;
};

export type Trigger = {
  readonly id: string;
  /** As it was registered. */
  readonly raw: JsonObject;
  readonly spec: TriggerSpec;
  readonly state: TriggerState;
  /** The first one is the one at work. */
  readonly fires: Fire[];
  isWorking: boolean;
  isRemoved: boolean;
};

/** What is said once for all triggers. */
export type TriggerConfig = {
  readonly watch_roles: readonly string[];
  readonly executor: Executor | null;
  readonly executors: Readonly<Record<string, Executor>>;
};
export const NO_CONFIG: TriggerConfig = { watch_roles: [], executor: null, executors: {} };

/** The executor that a name, or none, stands for. */
export function executorNamed(config: TriggerConfig, name: string | undefined): Executor | null {
  return name === undefined ? config.executor : (config.executors[name] ?? null);
}

/** A trigger that has just been registered. */
export function newTrigger(id: string, raw: JsonObject, spec: TriggerSpec): Trigger {
  const state: TriggerState = {
    status: "armed",
    detected_at: null,
    fired_at: null,
    fire_count: 0,
    failure_count: 0,
    last_failure_at: null,
    marks: 0,
    nextMark: null,
  };
  return { id, raw, spec, state, fires: [], isWorking: false, isRemoved: false };
}
