import { DockerImageRecord, objectKey, type ServerKind, UserError } from "@agent-env/protocol";
import type { ImageContext } from "../images/builder.ts";
import { storedEntries } from "../images/stored-context.ts";
import { envProviderName } from "../providers/env/name.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, requiredVersion } from "../store/versions.ts";
import { imageKeys } from "../types/image-keys.ts";
import { pinOf } from "../types/refs.ts";
import { findType } from "../types/registry.ts";
import type { EnvType, Fields } from "../types/type.ts";
import { entityById } from "./checked.ts";
import type { Plan } from "./plan.ts";
import { writeKey } from "./resolved.ts";
import { childRefs } from "./servers.ts";

export type PlannedImage = {
  /** `image`, `backend_image`, `frontend_image`. */
  readonly key: string;
  readonly imageId: string;
  readonly version: number;
  /** Where it comes from, for messages: `envs/items (Dockerfile image)`, or the id of a stored image. */
  readonly entry: string;
  /** The Dockerfile's path in the build context. */
  readonly dockerfile: string;
  /** What it is built from; null where the store has lost it. */
  readonly source: ImageContext | null;
  readonly platform: string | null;
};
export type PlannedServer = { readonly kind: ServerKind; readonly name: string; readonly images: readonly PlannedImage[] };

/** An env as it will be when the plan has been made: from planned config where the bundle writes it, else from its record. */
export type PlannedEnv = {
  readonly id: string;
  readonly version: number;
  readonly type: string;
  readonly provider: string;
  /** A multi's `name`; null: drawn at each deploy. */
  readonly name: string | null;
  readonly servers: readonly PlannedServer[];
};

/**
 * What a deploy of an env will be made of, before anything is written (B11). `version`: of a stored env that a step pins.
 * Throws a UserError when the store has lost something that the env is made of.
 */
export async function plannedEnv(plan: Plan, store: Store, envId: string, version: number | null = null): Promise<PlannedEnv> {
  const env = await readEnv(plan, store, envId, version);
  const { type, fields } = env;
  const name = fields["name"];
  return {
    id: envId,
    version: env.version,
    type: type.type,
    provider: envProviderName(envId, fields["env_provider_type"], plan.inner.registry),
    name: typeof name === "string" ? name : null,
    servers: await servers(plan, store, env),
  };
}

type ReadEnv = { readonly id: string; readonly version: number; readonly type: EnvType; readonly fields: Fields };

async function readEnv(plan: Plan, store: Store, id: string, pinned: number | null): Promise<ReadEnv> {
  const entity = pinned === null ? entityById(plan.inner.checked, "env", id) : undefined;
  if (entity?.resolved.type.kind === "env") {
    return { id, version: plan.versionOf("env", id), type: entity.resolved.type, fields: entity.fields };
  }
  const version = pinned ?? (await usedVersion(plan, store, "env", id));
  const record = await requiredVersion(store, "env", { id, version });
  const type = findType(plan.inner.registry, "env", record.type);
  if (type?.kind === "env") return { id, version, type, fields: type.read(record) };
  throw new UserError({
    what: `${id}: an env of type ${record.type} is not deployed by itself`,
    why: "no installed type has that name",
    next: "name an env of another type",
  });
}

async function servers(plan: Plan, store: Store, env: ReadEnv): Promise<PlannedServer[]> {
  const { type, fields } = env;
  if ("server" in type.topology) {
    const images = imageKeys(type).map((key) => plannedImage(plan, store, key, fields[key]));
    return [{ kind: type.topology.server, name: String(fields["environment_name"]), images: await Promise.all(images) }];
  }
  const children = childRefs(type, fields).map(async ({ ref }) => {
    const { id, version } = pinOf(ref);
    return servers(plan, store, await readEnv(plan, store, id, version));
  });
  return (await Promise.all(children)).flat();
}

async function plannedImage(plan: Plan, store: Store, key: string, ref: unknown): Promise<PlannedImage> {
  const { id, version: pinned } = pinOf(ref);
  const built = pinned === null ? plan.inner.units.find(({ unit }) => unit.key === writeKey("artifact", id)) : undefined;
  if (built?.source) {
    const { source } = built;
    const { dockerfile, platform } = source;
    return { key, imageId: id, version: built.decision.version, entry: built.unit.label, dockerfile, source, platform };
  }
  const version = pinned ?? (await usedVersion(plan, store, "artifact", id));
  const record = DockerImageRecord.parse(await requiredVersion(store, "artifact", { id, version }, "image"));
  const dockerfile = record.dockerfile_path;
  const source = await storedContext(store, record);
  return { key, imageId: id, version, entry: id, dockerfile, source, platform: record.platform };
}

/** A stored image's context, read when it is looked into; null where the store has lost it. */
async function storedContext(store: Store, record: DockerImageRecord): Promise<ImageContext | null> {
  const key = objectKey(record.build_context_object_url);
  if ((await store.of(record.id).objects.head(key)) === null) return null;
  return {
    dockerfile: record.dockerfile_path,
    entries: () => storedEntries(store, record),
  };
}

/** The version that the plan uses; an env that no entry references is read at its latest. */
async function usedVersion(plan: Plan, store: Store, kind: "env" | "artifact", id: string): Promise<number> {
  const isUsed =
    plan.storeRefs.some((ref) => ref.kind === kind && ref.id === id) || plan.writes.some((write) => write.kind === kind && write.id === id);
  return isUsed ? plan.versionOf(kind, id) : latestVersion(store, kind, id);
}
