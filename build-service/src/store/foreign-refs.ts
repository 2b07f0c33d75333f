import { LOCAL_PREFIX, localIdProblem, UserError } from "@agent-env/protocol";

/** Refuses an entity with a bare id that references an `@local/` id (4-bundle §2.2): its store is shared, that id is one machine's. */
export function refuseLocalRefs(record: Readonly<Record<string, unknown>> & { readonly id: string }): void {
  if (record.id.startsWith(LOCAL_PREFIX)) return;
  const found = localRef(record, "");
  if (found === null) return;
  throw new UserError({
    what: `${record.id}: ${found.path}: references ${JSON.stringify(found.id)}`,
    why: "a bare id lies in a store that others may share, and an @local/ id names something of one machine",
    next: "put that one under a bare id too, and reference it by that",
  });
}

/** The first text that is a whole `@local/` id, wherever it stands: no field is left out that a later type may bring. */
function localRef(value: unknown, path: string): { readonly path: string; readonly id: string } | null {
  if (typeof value === "string") return localIdProblem(value) === null ? { path, id: value } : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const found = localRef(inner, Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
