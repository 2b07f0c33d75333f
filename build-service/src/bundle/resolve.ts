import type { Problem } from "@agent-env/protocol";
import { imageKeys } from "../types/image-keys.ts";
import { findType, type Registry, typeNames, whyUnavailable } from "../types/registry.ts";
import type { BundleType, Config } from "../types/type.ts";
import { type Bundle, type Entry, type EvalEntry, type FolderEntry, type TaskEntry, tomlPath } from "./bundle.ts";
import { type Lookup, lookupIn } from "./lookup.ts";
import { mapPath } from "./map-path.ts";
import { pinnedMessage, refuse } from "./ref-problems.ts";
import { tomlRef } from "./ref-values.ts";
import { resolveImages } from "./resolve-images.ts";
import { resolveTask } from "./resolve-steps.ts";
import type { BuiltImage, Resolved, ResolvedEntity, ResolvedEntry, ResolvedRef, Unresolved } from "./resolved.ts";
import { shownText, shownValue } from "./shown.ts";
import { probably } from "./unknown-names.ts";

/** A bundle with its types found, its references replaced by ids and its image keys by what is built (4-bundle §7). */
export function resolveBundle(bundle: Bundle, registry: Registry): Resolved {
  const typed = bundle.entries.map((entry) => withImages(entry, registry));
  const lookup = lookupIn(
    bundle,
    typed.flatMap((item) => (item.what === "typed" ? item.builds : [])),
    new Set(typed.flatMap((item) => (item.what === "unknown" ? [item.entry] : []))),
  );
  return { bundle, entries: typed.map((item) => resolveTyped(item, { lookup, registry, entries: bundle.entries })) };
}

/** One entry, resolved by itself: its references are looked up as `lookup` says. */
export function resolveEntry(entry: Entry, lookup: Lookup, registry: Registry): ResolvedEntry {
  return resolveTyped(withImages(entry, registry), { lookup, registry, entries: [] });
}

/** An entry before its references are looked up. */
type Typed = { readonly what: "task"; readonly entry: TaskEntry } | Unresolved | WithImages;
/** An entry with its type, and with what is built for its image keys. */
export type WithImages = {
  readonly what: "typed";
  readonly entry: FolderEntry | EvalEntry;
  readonly type: BundleType;
  readonly config: Config;
  readonly builds: readonly BuiltImage[];
  readonly problems: readonly Problem[];
};

function withImages(entry: Entry, registry: Registry): Typed {
  if (entry.folder === "tasks") return { what: "task", entry };
  const type = findType(registry, entry.kind, entry.type);
  if (type === undefined) return { what: "unknown", entry, refs: [], problems: [unknownType(entry, registry)] };
  if (entry.folder === "evals") return { what: "typed", entry, type, config: entry.config, builds: [], problems: [] };
  return { what: "typed", entry, type, ...resolveImages(entry, type) };
}

const INFRASTRUCTURE = new Map([
  ["gateway_server", "a run builds the one in use when it is missing; [envs] default_gateway_env_id chooses another"],
  [
    "service_db",
    "a run that needs one will build it, and none does yet; [envs] default_service_db_env_id, which will choose another, isn't used yet",
  ],
]);

function unknownType(entry: FolderEntry | EvalEntry, registry: Registry): Problem {
  const infra = entry.kind === "env" ? INFRASTRUCTURE.get(entry.type) : undefined;
  if (infra !== undefined) {
    const message = `${entry.type} is no type of a bundle's env: ${infra}`;
    return { code: "infra-type", path: shownText(entry.path), message };
  }
  const known = typeNames(registry, entry.kind);
  const why = whyUnavailable(registry, `${entry.kind} type`, entry.type);
  const message = `there is no ${entry.kind} type ${shownValue(entry.type)}${probably([entry.type], known)}: ${known.length === 0 ? "none is known yet" : `known are ${known.join(", ")}`}${why}`;
  return { code: "unknown-type", path: shownText(entry.path), message };
}

function resolveTyped(item: Typed, among: { lookup: Lookup; registry: Registry; entries: readonly Entry[] }): ResolvedEntry {
  if (item.what === "task") return resolveTask({ ...among, entry: item.entry });
  return item.what === "unknown" ? item : resolveEntity(item, among.lookup);
}

/** An entity whose images are known, with its references replaced by ids. */
export function resolveEntity(item: WithImages, lookup: Lookup): ResolvedEntity {
  const { entry, type, builds } = item;
  const refs: ResolvedRef[] = [];
  const problems = [...item.problems];
  const builtKeys = new Set(builds.map(({ key }) => key));
  const images = imageKeys(type);
  let config = item.config;
  for (const { path, kind, types } of type.tomlRefs) {
    if (builtKeys.has(path)) continue;
    config = mapPath(config, path, (value, field) => {
      const at = `${shownText(entry.path)}: ${field}`;
      // An image value that is no reference has been judged already.
      if (images.includes(path) && item.problems.some((problem) => problem.path === at)) return value;
      const written = tomlRef(value, kind);
      if ("problem" in written) return refuse(problems, "bad-ref", at, written.problem, value);
      const found = lookup(written.text, kind, types);
      if ("code" in found) return refuse(problems, found.code, at, found.message, value);
      if (found.target.in === "bundle" && written.version !== null)
        return refuse(problems, "pinned", at, pinnedMessage(written.text), value);
      refs.push({ at, field, target: found.target, version: written.version, types });
      return written.version === null ? found.target.id : { [kind]: found.target.id, version: written.version };
    });
  }
  if (entry.folder === "evals") problems.push(...repeatedTasks(entry, refs));
  return { what: "entity", entry, type, config, builds, refs, problems };
}

function repeatedTasks(entry: EvalEntry, refs: readonly ResolvedRef[]): Problem[] {
  return refs.flatMap((ref, index) => {
    const first = refs.findIndex((other) => other.target.id === ref.target.id && other.version === ref.version);
    if (first >= index) return [];
    const message = `is ${refs[first]?.field} again: a task is listed once`;
    return [{ code: "eval-twice", path: `${shownText(tomlPath(entry))}: ${ref.field}`, message }];
  });
}
