import type { Kind } from "@agent-env/protocol";

/** A record that the store holds, without its version; `<root>` in its id stands for the bundle's id root. */
export type StoredRecord = {
  readonly kind: Kind;
  readonly record: Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };
};

/** What the store holds already: a record, or an object that is none. */
export type Stored = StoredRecord | { readonly key: string; readonly text: string };

/** A built image whose context isn't there. */
export const storedImage = (id: string): StoredRecord => ({
  kind: "artifact",
  record: {
    id,
    type: "docker_image",
    image_name: `local/${id}:1`,
    dockerfile_path: "Dockerfile",
    platform: null,
    source_digest: "1".repeat(64),
    build_context_object_url: "r2:blobs/sha256/none",
    build_context_s3_url: "r2:blobs/sha256/none",
    tar_gz_object_url: null,
  },
});
const ref = (id: string, type: string) => ({ id, version: 1, type });
export const storedServer = (id: string, name: string): StoredRecord => ({
  kind: "env",
  record: {
    id,
    type: "mcp_server",
    environment_name: name,
    service_name: name,
    env_provider_type: "gateway",
    docker_image_artifact: ref("image", "docker_image"),
  },
});
export const storedSite = (id: string, name: string): StoredRecord => ({
  kind: "env",
  record: {
    id,
    type: "website",
    environment_name: name,
    service_name: name,
    env_provider_type: "gateway",
    backend_docker_image_artifact: ref("image", "docker_image"),
    frontend_docker_image_artifact: ref("image", "docker_image"),
  },
});
export const storedFile = (id: string): StoredRecord => ({
  kind: "artifact",
  record: {
    id,
    type: "file",
    description: null,
    filename: "verify.py",
    content_type: "text/x-python",
    size_bytes: 1,
    sha256: "1".repeat(64),
    object_url: "r2:blobs/sha256/none",
    s3_url: "r2:blobs/sha256/none",
  },
});
export const storedEnvironment = (id: string, name: string): StoredRecord => ({
  kind: "artifact",
  record: { id, type: "environment", environment_name: name, service_name: name, file_artifact_ref: { id: "file", version: 1 } },
});
