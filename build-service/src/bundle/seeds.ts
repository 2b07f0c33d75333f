import type { Problem } from "@agent-env/protocol";
import { stepPath } from "./bundle.ts";
import { type Checked, type CheckedEntity, entityById } from "./checked.ts";
import type { ResolvedTask } from "./resolved.ts";
import { namedServers } from "./servers.ts";
import { listed, shownText } from "./shown.ts";

/** What is known beyond the bundle: nothing in a check, the store's records in a plan. Null: not known. */
export type KnownNames = {
  childName(ref: unknown): string | null;
  /** The servers that a stored environment artifact is for, or the names of a stored env's servers. */
  storedNames(kind: "env" | "artifact", ref: unknown): readonly string[] | null;
};

/** Data that a bundle writes and loads must be for servers of the env, one a server (4-bundle §7.6). */
export function seedProblems(checked: Checked, known: KnownNames): Problem[] {
  return [
    ...checked.entities.flatMap((entity) => twice(checked, entity, known)),
    ...checked.tasks.flatMap((task) => unknownNames(checked, task, known)),
  ];
}

function twice(checked: Checked, entity: CheckedEntity, known: KnownNames): Problem[] {
  const names = seedNames(checked, entity, known).filter((name) => name !== null);
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) < index))];
  if (repeated.length === 0) return [];
  return [
    {
      code: "seed-twice",
      path: shownText(entity.resolved.entry.path),
      message: `has two environments of one name, ${listed(repeated)}: keep one`,
    },
  ];
}

/** The servers that an artifact has data for; null in the place of one that isn't known. */
function seedNames(checked: Checked, entity: CheckedEntity, known: KnownNames): (string | null)[] {
  const { type, refs } = entity.resolved;
  if (type.kind !== "artifact" || type.names === undefined || entity.isRefused) return [];
  const own = type.names(entity.fields, entity.sources?.files().files ?? []);
  const named = refs
    .filter(({ types }) => types?.includes("environment"))
    .flatMap<string | null>(({ target, version }) => {
      const inner = target.in === "bundle" ? entityById(checked, "artifact", target.id) : undefined;
      if (inner !== undefined) return seedNames(checked, inner, known);
      const stored = known.storedNames("artifact", version === null ? target.id : { artifact: target.id, version });
      return stored === null ? [null] : [...stored];
    });
  return [...own, ...named];
}

function unknownNames(checked: Checked, task: ResolvedTask, known: KnownNames): Problem[] {
  return task.steps
    .filter(({ type }) => type === "load_artifact")
    .flatMap((step) => {
      const refs = task.refs.filter((ref) => ref.step.id === step.id);
      const env = refs.find(({ target }) => target.kind === "env");
      if (env === undefined) return [];
      const servers = serverNames(checked, env.target.id, known);
      if (servers === null) return [];
      return refs.flatMap(({ target }) => {
        const artifact = target.in === "bundle" ? entityById(checked, "artifact", target.id) : undefined;
        const names = artifact === undefined ? [] : seedNames(checked, artifact, known);
        const missing = names.filter((name) => name !== null && !servers.includes(name));
        if (artifact === undefined || missing.length === 0) return [];
        const message = `${artifact.resolved.entry.path} has data for ${listed(missing.map(String))}, and the env's servers are ${listed(servers)}`;
        return [{ code: "seed-name", path: shownText(stepPath(task.entry, step)), message }];
      });
    });
}

/** The names of an env's servers; null when one of them isn't known. */
function serverNames(checked: Checked, envId: string, known: KnownNames): readonly string[] | null {
  const entity = entityById(checked, "env", envId);
  if (entity === undefined) return known.storedNames("env", envId);
  const { type } = entity.resolved;
  if (type.kind !== "env") return null;
  let isKnown = true;
  const servers = namedServers(type, entity.fields, (ref) => {
    const name = known.childName(ref);
    if (name === null) isKnown = false;
    return name;
  });
  return isKnown && servers.length > 0 ? servers.map(({ name }) => name) : null;
}
