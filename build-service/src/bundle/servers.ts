import type { Problem } from "@agent-env/protocol";
import { deployRefusals, envShape, type NamedServer } from "../types/can-deploy.ts";
import { findEnvProvider, type Registry } from "../types/registry.ts";
import type { EnvType, Fields } from "../types/type.ts";
import { tomlPath } from "./bundle.ts";
import type { CheckedEntity } from "./checked.ts";
import { shownText } from "./shown.ts";

/** An env's reference to a child, as its fields hold it, with the field's place. */
export type ChildRef = { readonly kind: "mcp" | "website"; readonly field: string; readonly ref: unknown };

/** The children that an env lists; none for an env that is one server itself. */
export function childRefs(type: EnvType, fields: Fields): ChildRef[] {
  if ("server" in type.topology) return [];
  return Object.entries(type.topology.lists).flatMap(([key, kind]) => {
    const refs: unknown = fields[key];
    return Array.isArray(refs) ? refs.map((ref: unknown, index) => ({ kind, field: `${key}[${index}]`, ref })) : [];
  });
}

/** The servers of an env by name. A child whose name isn't known (yet) is left out. */
export function namedServers(type: EnvType, fields: Fields, childName: (ref: unknown) => string | null): NamedServer[] {
  if ("server" in type.topology) {
    const name = fields["environment_name"];
    return typeof name === "string" ? [{ kind: type.topology.server, name, field: null }] : [];
  }
  return childRefs(type, fields).flatMap(({ kind, field, ref }) => {
    const name = childName(ref);
    return name === null ? [] : [{ kind, name, field }];
  });
}

/** What makes an env's provider unable to deploy it, as problems of its entry (B6). */
export function deployProblems(entity: CheckedEntity, registry: Registry, childName: (ref: unknown) => string | null): Problem[] {
  const { entry, type } = entity.resolved;
  const provider = findEnvProvider(registry, String(entity.fields["env_provider_type"]));
  if (type.kind !== "env" || provider === undefined) return [];
  const servers = namedServers(type, entity.fields, childName);
  return deployRefusals({ provider, type: type.type, shape: envShape(type), servers }).map(({ code, server, reason }) => {
    const field = server?.field ?? null;
    const path = code === "name-shared" ? entry.path : field === null ? tomlPath(entry) : `${entry.path}: ${field}`;
    return { code, path: shownText(path), message: shownText(reason) };
  });
}
