import {
  type AnyRecord,
  DockerImageRecord,
  EnvRecord,
  McpServerRecord,
  type MultiRecord,
  UserError,
  type VersionedRef,
  WebsiteRecord,
} from "@agent-env/protocol";
import type { z } from "zod";
import { envProviderName } from "../providers/env/name.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, requiredVersion } from "../store/versions.ts";
import type { DeployableEnv, DeployableImage, DeployableServer } from "./deployment.ts";

/**
 * A stored env with all that its record references, each at the version that the record names. Without `version`: the
 * latest. Throws a UserError when something isn't there, or is nothing that can be deployed.
 */
export async function loadDeployableEnv(store: Store, id: string, version?: number): Promise<DeployableEnv> {
  const chosen = version ?? (await latestVersion(store, "env", id));
  const record = await storedEnv(store, { id, version: chosen });
  const common = {
    id,
    version: chosen,
    provider: envProviderName(id, record.env_provider_type),
    name: record.type === "multi" ? (record.name ?? null) : null,
  };
  switch (record.type) {
    case "mcp_server":
      return { ...common, type: "mcp_server", servers: [await mcpServer(store, record)] };
    case "website":
      return { ...common, type: "website", servers: [await website(store, record)] };
    case "multi":
      return { ...common, type: "multi", servers: await children(store, record) };
  }
}

async function children(store: Store, record: MultiRecord): Promise<DeployableServer[]> {
  const servers = record.mcp_server_envs.map(async (ref) =>
    mcpServer(store, read(McpServerRecord, await requiredVersion(store, "env", ref))),
  );
  const sites = record.website_envs.map(async (ref) => website(store, read(WebsiteRecord, await requiredVersion(store, "env", ref))));
  return Promise.all([...servers, ...sites]);
}

async function mcpServer(store: Store, record: McpServerRecord): Promise<DeployableServer> {
  return { kind: "mcp", name: record.environment_name, image: await image(store, "image", record.docker_image_artifact) };
}

async function website(store: Store, record: WebsiteRecord): Promise<DeployableServer> {
  const [backend, frontend] = await Promise.all([
    image(store, "backend_image", record.backend_docker_image_artifact),
    image(store, "frontend_image", record.frontend_docker_image_artifact),
  ]);
  return { kind: "website", name: record.environment_name, backend, frontend };
}

async function image(store: Store, key: string, ref: VersionedRef): Promise<DeployableImage> {
  return { key, record: read(DockerImageRecord, await requiredVersion(store, "artifact", ref, "image")) };
}

async function storedEnv(store: Store, ref: VersionedRef): Promise<EnvRecord> {
  const record = await requiredVersion(store, "env", ref);
  const env = EnvRecord.safeParse(record);
  if (env.success) return env.data;
  if (["mcp_server", "website", "multi"].includes(record.type)) throw unreadable(record, env.error);
  throw new UserError({
    what: `${ref.id}: an env of type ${record.type} is not deployed by itself`,
    why: "mcp_server, website and multi are",
    next: "name one of those; `agent-env env list --all` shows what was deployed",
  });
}

function read<Schema extends z.ZodType>(schema: Schema, record: AnyRecord): z.infer<Schema> {
  const parsed = schema.safeParse(record);
  if (!parsed.success) throw unreadable(record, parsed.error);
  return parsed.data;
}

function unreadable(record: AnyRecord, error: z.ZodError): UserError {
  const [issue] = error.issues;
  return new UserError({
    what: `${record.id} v${record.version}: its record can't be deployed`,
    why: issue ? `${issue.path.join(".") || "record"}: ${issue.message}` : `it is of type ${record.type}`,
    next: "run the bundle that writes it: `agent-env run <bundle>`",
  });
}
