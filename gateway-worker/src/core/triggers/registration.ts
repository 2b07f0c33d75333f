import { isJsonObject, issuesText, type JsonObject } from "@agent-env/protocol";
import { z } from "zod";
import { isSame } from "./predicate.ts";
import { Executor, TriggerSpec, toolsOf } from "./spec.ts";
import { executorNamed, NO_CONFIG, newTrigger, type Trigger, type TriggerConfig } from "./trigger.ts";

const DEFAULT_WATCHED = ["default"];

/** What is known when triggers are registered. `tools`: null while no server's tools could be listed. */
export type Known = {
  readonly config: TriggerConfig;
  readonly triggers: ReadonlyMap<string, Trigger>;
  readonly tools: ReadonlySet<string> | null;
  readonly websites: readonly string[];
};
export type Registration = { readonly config: TriggerConfig; readonly ids: readonly string[]; readonly added: readonly Trigger[] };
type Problem = { readonly problem: string };

const Body = z.looseObject({
  triggers: z.array(z.record(z.string(), z.unknown()), "triggers must be a list of objects"),
  watch_roles: z.array(z.string().min(1)).optional(),
  executor: Executor.nullish(),
  executors: z.record(z.string().min(1), Executor).optional(),
});

/** What a registration adds, or why all of it is refused (3-wire §triggers). */
export function readRegistration(body: JsonObject, known: Known): Registration | Problem {
  if (!Array.isArray(body["triggers"])) return { problem: "triggers must be a list" };
  const parsed = Body.safeParse(body);
  if (!parsed.success) return { problem: issuesText(parsed.error) };
  const config = mergedConfig(known.config, parsed.data);
  if ("problem" in config) return config;
  const added: Trigger[] = [];
  const ids: string[] = [];
  /** What triggers are called here: by its place one that has no id of its own. */
  const called = new Map<string, string>();
  const problemOf = (id: string, text: string): Problem => ({ problem: `${called.get(id) ?? `trigger ${JSON.stringify(id)}`}: ${text}` });
  for (const [at, raw] of parsed.data.triggers.entries()) {
    const { id = newId() } = raw;
    if (typeof id !== "string" || id === "") return { problem: `triggers[${at}]: a trigger's id must be a non-empty string` };
    if (ids.includes(id)) return problemOf(id, "is in this request twice");
    ids.push(id);
    if (raw["id"] === undefined) called.set(id, `triggers[${at}]`);
    const same = known.triggers.get(id);
    if (same !== undefined && isSame(same.raw, raw)) continue;
    const other = "already registered with another content: remove it first, or use a new id";
    const spec = same === undefined ? TriggerSpec.safeParse(raw) : null;
    if (spec === null) return problemOf(id, other);
    if (!spec.success) return problemOf(id, issuesText(spec.error));
    added.push(newTrigger(id, raw, spec.data));
  }
  const all = new Set([...known.triggers.keys(), ...ids]);
  for (const trigger of [...added, ...known.triggers.values()]) {
    const fault = faultIn(trigger, { ...known, config, ids: all });
    if (fault !== null) return problemOf(trigger.id, fault);
  }
  return { config, ids, added };
}

function mergedConfig(now: TriggerConfig, asked: z.infer<typeof Body>): TriggerConfig | Problem {
  const isFirst = now.watch_roles.length === 0;
  const watch_roles = isFirst ? (asked.watch_roles ?? DEFAULT_WATCHED) : now.watch_roles;
  const conflict = (what: string) => ({ problem: `${what} is already registered otherwise: clear the triggers to change it` });
  if (asked.watch_roles !== undefined && !isSame([...watch_roles].sort(), [...asked.watch_roles].sort())) return conflict("watch_roles");
  if (now.executor !== null && asked.executor && !isSame(now.executor, asked.executor)) return conflict("executor");
  const executors = { ...now.executors };
  for (const [name, executor] of Object.entries(asked.executors ?? {})) {
    if (executors[name] !== undefined && !isSame(executors[name], executor)) return conflict(`executors.${name}`);
    executors[name] = executor;
  }
  const config = { ...NO_CONFIG, watch_roles, executor: now.executor ?? asked.executor ?? null, executors };
  const watched = rolesOfExecutors(config).find((role) => watch_roles.includes(role));
  return watched === undefined ? config : { problem: `role ${JSON.stringify(watched)} is an executor's and watched` };
}

/** The roles of all executors. */
export function rolesOfExecutors({ executor, executors }: TriggerConfig): string[] {
  return [...(executor === null ? [] : [executor]), ...Object.values(executors)].map(({ role }) => role);
}

function faultIn({ id, spec }: Trigger, known: Known & { ids: ReadonlySet<string> }): string | null {
  const { when, actions, barrier } = spec;
  const unknown = known.tools === null ? undefined : toolsOf(spec).find(({ tool }) => known.tools?.has(tool) === false);
  if (unknown !== undefined) return `${unknown.at} names unknown tool ${JSON.stringify(unknown.tool)}`;
  if (when.type === "website" && !known.websites.includes(when.app))
    return `when.app names unknown website ${JSON.stringify(when.app)} (websites: ${JSON.stringify(known.websites)})`;
  if (when.type === "time" && when.after !== undefined && (when.after === id || !known.ids.has(when.after)))
    return `when.after names ${when.after === id ? "itself" : `unknown trigger ${JSON.stringify(when.after)}`}`;
  const roles = when.type === "time" ? when.unless?.roles : when.roles;
  for (const [at, action] of actions.entries()) {
    if (action.type !== "nl") continue;
    const executor = executorNamed(known.config, action.executor);
    if (executor === null)
      return `actions[${at}]: needs ${action.executor === undefined ? "an executor" : `executor ${JSON.stringify(action.executor)}`}, which isn't registered`;
    if (roles?.includes(executor.role) === true)
      return `actions[${at}]: goes to role ${JSON.stringify(executor.role)}, which provokes this trigger`;
    if (barrier && executor.hours !== undefined) return `actions[${at}]: an executor with hours doesn't go with a barrier`;
  }
  return null;
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `trg_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The ids that a removal names; null if it is no list of some. */
export function idsIn(body: unknown): readonly string[] | null {
  const ids = isJsonObject(body) ? body["ids"] : undefined;
  return Array.isArray(ids) && ids.every((id): id is string => typeof id === "string" && id !== "") ? ids : null;
}
