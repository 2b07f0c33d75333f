import { type AnyRecord, VersionedRef } from "@agent-env/protocol";
import { z } from "zod";
import type { RefValue } from "./type.ts";

/** A reference in accepted fields, as a schema for the types' own ones. */
export const Ref: z.ZodType<RefValue> = z.union([z.string(), z.record(z.string(), z.union([z.string(), z.number()]))]);

/** `{id, type, version}` of a record that another one names. */
export function typedRef(record: AnyRecord): { readonly id: string; readonly version: number; readonly type: string } {
  return { id: record.id, version: record.version, type: record.type };
}

/** `{id, version}` of a record that another one names. */
export function versionedRef(record: AnyRecord): VersionedRef {
  return { id: record.id, version: record.version };
}

/** What a record names, as accepted fields hold it: pinned. */
export function pinnedRef(kind: "env" | "artifact", ref: unknown): RefValue {
  const { id, version } = VersionedRef.parse(ref);
  return { [kind]: id, version };
}

const Pin = z.union([
  z.string().transform((id) => ({ id, version: null })),
  z.object({ env: z.string(), version: z.int() }).transform(({ env, version }) => ({ id: env, version })),
  z.object({ artifact: z.string(), version: z.int() }).transform(({ artifact, version }) => ({ id: artifact, version })),
]);

/** A reference of accepted fields as an id, and the version that it is pinned at. Throws for anything else. */
export function pinOf(ref: unknown): { readonly id: string; readonly version: number | null } {
  return Pin.parse(ref);
}
