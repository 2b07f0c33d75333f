import { EnvironmentRecord, type Problem } from "@agent-env/protocol";
import type { Store } from "../store/store.ts";
import { latestVersion, storedEnvType } from "../store/versions.ts";
import { pinOf } from "../types/refs.ts";
import { findType, type Registry } from "../types/registry.ts";
import { bundleChildName } from "./check.ts";
import type { Checked } from "./checked.ts";
import { seedProblems } from "./seeds.ts";
import { childRefs, deployProblems } from "./servers.ts";
import { shownText } from "./shown.ts";
import type { StoreView } from "./store-refs.ts";

/** What a plan finds beyond a check: by the store's records, at the versions that were read. */
export async function checkAgainstStore(checked: Checked, view: StoreView, store: Store, registry: Registry): Promise<Problem[]> {
  return [...checkStoreRefs(checked, view, registry), ...storeTasks(checked, view), ...(await typeChanges(checked, store))];
}

/** What is wrong with what the store holds of an entity's references, and with an env over them (B6). */
export function checkStoreRefs(checked: Checked, view: StoreView, registry: Registry): Problem[] {
  const names = storedNames(view, registry);
  const childName = (ref: unknown): string | null => bundleChildName(checked, ref) ?? names("env", ref)?.[0] ?? null;
  const envs = checked.entities.filter(({ resolved }) => resolved.type.kind === "env");
  return [
    ...view.problems,
    ...envs.flatMap((env) => deployProblems(env, registry, childName)),
    ...seedProblems(checked, { childName, storedNames: names }),
  ];
}

/** A bundle's evals run the bundle's own tasks only (4-bundle §4.7). */
function storeTasks({ entities }: Checked, view: StoreView): Problem[] {
  return entities
    .filter(({ resolved }) => resolved.entry.kind === "eval")
    .flatMap(({ resolved }) =>
      resolved.refs.filter(({ target }) => view.refs.some(({ kind, id }) => kind === target.kind && id === target.id)),
    )
    .map(({ at, target }) => ({
      code: "eval-store-task",
      path: at,
      message: `${JSON.stringify(target.id)} is a task of the store, and a bundle's evals run the bundle's own: name one of those, or leave it out`,
    }));
}

/** An env keeps the type that its id had first. */
async function typeChanges({ entities }: Checked, store: Store): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { resolved } of entities) {
    const { entry } = resolved;
    if (entry.kind !== "env") continue;
    const latest = await latestVersion(store, "env", entry.id);
    const stored = await storedEnvType(store, entry.id, latest);
    if (stored === null || stored === entry.type) continue;
    const message = `${JSON.stringify(entry.id)} is an env of type ${stored} in the store, and this is a ${entry.type}: an id keeps its type, so rename the folder`;
    problems.push({ code: "type-changed", path: shownText(entry.path), message });
  }
  return problems;
}

/** The names that a stored env's servers have, or that of the server which a stored environment is for. */
function storedNames(view: StoreView, registry: Registry): (kind: "env" | "artifact", ref: unknown) => readonly string[] | null {
  return (kind, ref) => {
    const { id, version } = pinOf(ref);
    const record = view.record(kind, id, version);
    if (record === undefined) return null;
    if (kind === "artifact") {
      const environment = EnvironmentRecord.safeParse(record);
      return environment.success ? [environment.data.environment_name] : null;
    }
    const type = findType(registry, "env", record.type);
    // A stored multi names its children by id; their names are not read here.
    if (type?.kind !== "env" || childRefs(type, type.read(record)).length > 0) return null;
    const name = type.read(record)["environment_name"];
    return typeof name === "string" ? [name] : null;
  };
}
