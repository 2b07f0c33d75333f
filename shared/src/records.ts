import { z } from "zod";
import { tableOf } from "./table.ts";

/** What the store keeps versions of (4-bundle §1). A skill is an artifact. */
export const KINDS = ["env", "agent", "artifact", "task", "eval"] as const;
export type Kind = (typeof KINDS)[number];

export const VersionedRef = z.object({ id: z.string(), version: z.int().positive() });
export type VersionedRef = z.infer<typeof VersionedRef>;

const TypedRef = VersionedRef.extend({ type: z.string() });
const Metadata = tableOf(z.unknown()).default({});
const Provider = z.string().default("gateway");

/** The older twin of a renamed field is read when the newer one is missing, and both are written. */
function withTwin(newer: string, older: string) {
  return (raw: unknown): unknown => {
    if (typeof raw !== "object" || raw === null) return raw;
    const fields = raw as Record<string, unknown>;
    const value = fields[newer] ?? fields[older];
    return { ...fields, [newer]: value, [older]: value };
  };
}

const common = { id: z.string(), version: z.int().positive() };

export const McpServerRecord = z.preprocess(
  withTwin("environment_name", "service_name"),
  z.looseObject({
    ...common,
    type: z.literal("mcp_server"),
    metadata: Metadata,
    environment_name: z.string(),
    service_name: z.string(),
    env_provider_type: Provider,
    docker_image_artifact: TypedRef,
  }),
);
export type McpServerRecord = z.infer<typeof McpServerRecord>;

export const WebsiteRecord = z.preprocess(
  withTwin("environment_name", "service_name"),
  z.looseObject({
    ...common,
    type: z.literal("website"),
    metadata: Metadata,
    environment_name: z.string(),
    service_name: z.string(),
    env_provider_type: Provider,
    backend_docker_image_artifact: TypedRef,
    frontend_docker_image_artifact: TypedRef,
  }),
);
export type WebsiteRecord = z.infer<typeof WebsiteRecord>;

export const MultiRecord = z.looseObject({
  ...common,
  type: z.literal("multi"),
  metadata: Metadata,
  env_provider_type: Provider,
  name: z.string().optional(),
  mcp_server_envs: z.array(TypedRef).default([]),
  website_envs: z.array(TypedRef).default([]),
});
export type MultiRecord = z.infer<typeof MultiRecord>;

export const GatewayServerRecord = z.looseObject({
  ...common,
  type: z.literal("gateway_server"),
  metadata: Metadata,
  docker_image_artifact: TypedRef,
});
export type GatewayServerRecord = z.infer<typeof GatewayServerRecord>;

/** The env types that this product deploys by itself. */
export const EnvRecord = z.union([McpServerRecord, WebsiteRecord, MultiRecord]);
export type EnvRecord = z.infer<typeof EnvRecord>;

export const A2aAgentRecord = z.looseObject({
  ...common,
  type: z.literal("a2a_agent"),
  docker_image_artifact: TypedRef,
  default_env_vars: tableOf(z.string()).default({}),
  metadata: z
    .looseObject({
      default_model: z.string().optional(),
      min_disk_size_gb: z.number().optional(),
      takes_credentials: z.boolean().optional(),
    })
    .default({}),
});
export type A2aAgentRecord = z.infer<typeof A2aAgentRecord>;

export const DockerImageRecord = z.preprocess(
  withTwin("build_context_object_url", "build_context_s3_url"),
  z.looseObject({
    ...common,
    type: z.literal("docker_image"),
    description: z.string().nullish(),
    /** For people; a deploy runs a build row's image id, never this. */
    image_name: z.string(),
    dockerfile_path: z.string(),
    platform: z.string().nullable(),
    /** 64 hex digits (4-bundle §10.1). */
    source_digest: z.string(),
    /** `r2:<key>` of the context tar. */
    build_context_object_url: z.string(),
    build_context_s3_url: z.string(),
    tar_gz_object_url: z.null().default(null),
  }),
);
export type DockerImageRecord = z.infer<typeof DockerImageRecord>;

export const FileRecord = z.preprocess(
  withTwin("object_url", "s3_url"),
  z.looseObject({
    ...common,
    type: z.literal("file"),
    description: z.string().nullish(),
    filename: z.string(),
    content_type: z.string(),
    object_url: z.string(),
    s3_url: z.string(),
    sha256: z.string(),
    size: z.int().nonnegative(),
  }),
);
export type FileRecord = z.infer<typeof FileRecord>;

export const EnvironmentRecord = z.preprocess(
  withTwin("environment_name", "service_name"),
  z.looseObject({
    ...common,
    type: z.literal("environment"),
    environment_name: z.string(),
    service_name: z.string(),
    file_artifact_ref: VersionedRef,
  }),
);
export type EnvironmentRecord = z.infer<typeof EnvironmentRecord>;

export const EnvironmentUniverseRecord = z.preprocess(
  withTwin("environment_artifact_refs", "service_artifact_refs"),
  z.looseObject({
    ...common,
    type: z.literal("environment_universe"),
    environment_artifact_refs: z.array(VersionedRef),
    service_artifact_refs: z.array(VersionedRef),
    metadata_refs: tableOf(VersionedRef).nullable().default(null),
  }),
);
export type EnvironmentUniverseRecord = z.infer<typeof EnvironmentUniverseRecord>;

export const FileUniverseRecord = z.looseObject({
  ...common,
  type: z.literal("file_artifact_universe"),
  file_artifact_refs: tableOf(VersionedRef),
  file_artifact_ids: tableOf(z.string()),
  bundle_object_url: z.null().default(null),
});
export type FileUniverseRecord = z.infer<typeof FileUniverseRecord>;

export const SkillRecord = z.preprocess(
  withTwin("skill_object_url", "skill_s3_url"),
  z.looseObject({
    ...common,
    type: z.literal("skill"),
    /** A `file_artifact_universe`. */
    skill_files_id: z.string(),
    /** `r2:<key>` of a tar of the same files. */
    skill_object_url: z.string(),
    skill_s3_url: z.string(),
    agent_skills_spec_version: z.string(),
    skill_name: z.string(),
    description: z.string(),
    license: z.string().nullable().default(null),
    compatibility: z.string().nullable().default(null),
    allowed_tools: z.string().nullable().default(null),
    skill_metadata: tableOf(z.string()).default({}),
  }),
);
export type SkillRecord = z.infer<typeof SkillRecord>;

export const TaskRecord = z.looseObject({
  ...common,
  type: z.literal("task"),
  steps: z.array(z.looseObject({ id: z.string(), type: z.string() })),
});
export type TaskRecord = z.infer<typeof TaskRecord>;

/** Any stored version, as far as every reader knows it. */
export const AnyRecord = z.looseObject({ ...common, type: z.string() });
export type AnyRecord = z.infer<typeof AnyRecord>;

/** R2 key of one version, and of the pointer that may lag behind (4-bundle §11.1). `encodedId` is `encodeId(id)`. */
export const recordKey = (kind: Kind, encodedId: string, version: number): string => `records/${kind}/${encodedId}/${version}.json`;
export const latestKey = (kind: Kind, encodedId: string): string => `records/${kind}/${encodedId}/latest.json`;
/** KV key of an env's projection. */
export const envKvKey = (encodedId: string): string => `env:${encodedId}`;
/** A locator in a record. */
export const objectUrl = (key: string): string => `r2:${key}`;
export const blobKey = (sha256Hex: string): string => `blobs/sha256/${sha256Hex}`;

/** The object key that `r2:<key>` names. Throws on any other locator, which would be a bug of the writer. */
export function objectKey(url: string): string {
  if (!url.startsWith("r2:")) throw new Error(`not an object locator: ${JSON.stringify(url)}`);
  return url.slice("r2:".length);
}
