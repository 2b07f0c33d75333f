import type { Step } from "./bundle.ts";
import { isTable } from "./toml.ts";

/** `depends_on` as step ids: each element is an id or `{"task_step_id": id}`. Null when it isn't such a list. */
export function dependencies(step: Step): readonly string[] | null {
  const value = step["depends_on"];
  if (!Array.isArray(value)) return null;
  const ids = value.map((item: unknown) => (isTable(item) ? item["task_step_id"] : item));
  return ids.every((id) => typeof id === "string") ? ids : null;
}

/**
 * For each step the ids of those that have ended when it starts: what it depends on, directly or not. A step that doesn't
 * say depends on all earlier ones (5-run §7); a dependency that is no earlier step is none.
 */
export function stepsBefore(steps: readonly Step[]): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, ReadonlySet<string>>();
  for (const step of steps) {
    const direct = dependencies(step)?.filter((id) => before.has(id));
    before.set(step.id, new Set(direct?.flatMap((id) => [id, ...(before.get(id) ?? [])]) ?? before.keys()));
  }
  return before;
}
