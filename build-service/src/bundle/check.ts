import { derivedId, type Problem, sortedProblems } from "@agent-env/protocol";
import { BUILT_IN, type Registry } from "../types/registry.ts";
import { acceptContext, keyProblems } from "./accept.ts";
import { type Bundle, stepPath } from "./bundle.ts";
import { checkTask } from "./check-steps.ts";
import { type Checked, type CheckedEntity, entityById, type Warning } from "./checked.ts";
import { type EntrySources, entrySources } from "./entry-sources.ts";
import type { InstalledBundle } from "./id-root.ts";
import type { Target } from "./lookup.ts";
import { parseBundle } from "./parse.ts";
import { resolveBundle } from "./resolve.ts";
import { type ResolvedEntity, type ResolvedEntry, type ResolvedRef, type ResolvedTask, writeKey } from "./resolved.ts";
import { seedProblems } from "./seeds.ts";
import { deployProblems } from "./servers.ts";
import { shownText } from "./shown.ts";
import { type StoreName, storeNames } from "./store-names.ts";
import { writeUnits } from "./units.ts";
import { bundleWarnings, emptyDockerfiles } from "./warnings.ts";
import { writeOrder } from "./write-order.ts";

/**
 * Everything that is wrong with a bundle and needs no store and no Docker (B7). What can't be read hides the rest; all else is
 * told at once.
 */
export async function checkBundle(
  folder: string,
  options: { readonly installed?: InstalledBundle; readonly registry?: Registry } = {},
): Promise<{
  readonly bundle: Bundle | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
  readonly storeNames: readonly StoreName[];
}> {
  const { registry = BUILT_IN } = options;
  const { bundle, problems } = parseBundle(folder, options.installed);
  if (bundle === null || problems.length > 0) return { bundle, problems, warnings: [], storeNames: [] };
  const { entries } = resolveBundle(bundle, registry);
  const checked = await checkEntries(bundle, entries, registry);
  return {
    bundle,
    problems: checked.problems,
    warnings: [...checked.warnings, ...bundleWarnings(bundle, entries)],
    storeNames: storeNames(bundle, entries),
  };
}

/**
 * Judges resolved entries: by their types, their folders, and against each other. What of an entry can't be resolved is told
 * together with what each says by itself; how they go together is then not judged.
 */
export async function checkEntries(bundle: Bundle, entries: readonly ResolvedEntry[], registry: Registry): Promise<Checked> {
  const unresolved = entries.flatMap((entry) => entry.problems);
  const problems = [...unresolved];
  const entities: CheckedEntity[] = [];
  for (const resolved of entries) {
    if (resolved.what !== "entity") continue;
    if (resolved.problems.length > 0) {
      problems.push(...keyProblems(resolved));
      continue;
    }
    const { entry } = resolved;
    const sources = entry.folder === "evals" ? null : entrySources(bundle.disk, entry);
    const { entity, problems: own } = await checkEntity({ resolved, sources, registry });
    entities.push(entity);
    problems.push(...own);
  }
  const tasks = entries.filter((entry): entry is ResolvedTask => entry.what === "task");
  const steps = tasks.map((task) => checkTask(task, registry));
  const foreign = entries.flatMap((entry) => foreignIds(entry.refs, bundle));
  problems.push(...steps.flatMap((found) => found.problems), ...foreign);
  const warnings = [...entities.flatMap(emptyDockerfiles), ...steps.flatMap((said) => said.warnings)];
  const checked = { bundle, entities, tasks, warnings, problems: [] };
  if (unresolved.length === 0) problems.push(...betweenEntries(checked, registry));
  return { ...checked, problems: sortedProblems(problems) };
}

/** Judges one resolved entity by its type and its files, whatever else there is. */
export async function checkEntity(options: {
  readonly resolved: ResolvedEntity;
  readonly sources: EntrySources | null;
  readonly registry: Registry;
}): Promise<{ readonly entity: CheckedEntity; readonly problems: readonly Problem[] }> {
  const { resolved, sources, registry } = options;
  const { entry, type, config, builds } = resolved;
  const problems: Problem[] = [];
  if (type.kind === "env" && type.writes !== "record") {
    const message = `the type ${type.type} reads more than its toml and what that names, so no run can tell when to write it anew`;
    problems.push({ code: "cannot-write", path: shownText(entry.path), message });
  }
  const fields = await type.accept(config, acceptContext({ entity: resolved, sources, registry, problems }));
  for (const image of builds) sources?.context(image);
  if (type.writes === "folder") sources?.files();
  problems.push(...(sources?.problems() ?? []));
  return { entity: { resolved, fields, sources, isRefused: problems.length > 0 }, problems };
}

/** Ids under the bundle's own root that nothing in it has (4-bundle §3.6). */
function foreignIds(refs: readonly ResolvedRef[], bundle: Bundle): Problem[] {
  return refs
    .filter(({ target }) => target.in === "nowhere")
    .map(({ at, target }) => ({
      code: "foreign-id",
      path: at,
      message: `${JSON.stringify(target.id)} is ${foreignReason(target, bundle)}`,
    }));
}

function foreignReason({ id, kind }: Target, { entries }: Bundle): string {
  const task = entries.find((entry) => entry.kind === "task" && id.startsWith(`${entry.id}/`));
  if (task === undefined) return `an id of this bundle, which has no such ${kind}`;
  return `what a step of ${task.path} writes, and only that task's own steps can name it`;
}

function betweenEntries(checked: Checked, registry: Registry): Problem[] {
  const envs = checked.entities.filter(({ resolved }) => resolved.type.kind === "env");
  return [
    ...envs.flatMap((env) => deployProblems(env, registry, (ref) => bundleChildName(checked, ref))),
    ...seedProblems(checked, { childName: (ref) => bundleChildName(checked, ref), storedNames: () => null }),
    ...twoWriters(checked),
    ...writeOrder(writeUnits(checked)).problems,
  ];
}

/** The name of an env of this bundle; null for one of the store, which this stage doesn't read. */
export function bundleChildName(checked: Pick<Checked, "entities">, ref: unknown): string | null {
  const name = typeof ref === "string" ? entityById(checked, "env", ref)?.fields["environment_name"] : undefined;
  return typeof name === "string" ? name : null;
}

/** Every id has one writer: an entity, a built image, a folder's child, or a step. */
function twoWriters(checked: Checked): Problem[] {
  const writers = new Map<string, string>();
  const problems: Problem[] = [];
  const claim = (key: string, path: string): void => {
    const other = writers.get(key);
    if (other === undefined) writers.set(key, path);
    else
      problems.push({
        code: "two-writers",
        path: shownText(path),
        message: `${key} is also written by ${shownText(other)}: rename one of the two`,
      });
  };
  for (const { key, label } of writeUnits(checked)) claim(key, label);
  for (const { resolved, fields, sources, isRefused } of checked.entities) {
    const { type, entry } = resolved;
    if (type.writes !== "folder" || sources === null || isRefused) continue;
    const suffixes = type.childSuffixes(fields, sources.files().files);
    for (const suffix of suffixes) claim(`artifact ${derivedId(entry.id, suffix)}`, entry.path);
  }
  for (const { entry, outputs } of checked.tasks) {
    for (const { kind, id, step } of outputs) claim(writeKey(kind, id), stepPath(entry, step));
  }
  return problems;
}
