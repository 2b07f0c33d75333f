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
import { ENV_PROVIDERS, type EnvProviderName } from "../providers/capabilities.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, readVersion } from "../store/versions.ts";
import type { DeployableEnv, DeployableImage, DeployableServer } from "./deployment.ts";

/**
 * A stored env with all that its record references, each at the version that the record names. Without `version`: the
 * latest. Throws a UserError when something isn't there, or is nothing that can be deployed.
 */
export async function loadDeployableEnv(store: Store, id: string, version?: number): Promise<DeployableEnv> {
  const chosen = version ?? (await latestVersion(store, "env", id));
  const record = await storedEnv(store, { id, version: chosen });
  const common = { id, version: chosen, provider: providerOf(record), name: record.type === "multi" ? (record.name ?? null) : null };
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
  const servers = record.mcp_server_envs.map(async (ref) => mcpServer(store, read(McpServerRecord, await required(store, ref))));
  const sites = record.website_envs.map(async (ref) => website(store, read(WebsiteRecord, await required(store, ref))));
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
  const record = await readVersion(store, "artifact", ref.id, ref.version);
  if (record === null) throw missing("image", ref);
  return { key, record: read(DockerImageRecord, record) };
}

async function storedEnv(store: Store, ref: VersionedRef): Promise<EnvRecord> {
  const record = await required(store, ref);
  const env = EnvRecord.safeParse(record);
  if (env.success) return env.data;
  if (["mcp_server", "website", "multi"].includes(record.type)) throw unreadable(record, env.error);
  throw new UserError({
    what: `${ref.id}: an env of type ${record.type} is not deployed by itself`,
    why: "mcp_server, website and multi are",
    next: "name one of those; `agent-env env list --all` shows what was deployed",
  });
}

async function required(store: Store, ref: VersionedRef): Promise<AnyRecord> {
  const record = ref.version > 0 ? await readVersion(store, "env", ref.id, ref.version) : null;
  if (record === null) throw missing("env", ref);
  return record;
}

function providerOf(record: EnvRecord): EnvProviderName {
  const name = record.env_provider_type;
  if (isProvider(name)) return name;
  throw new UserError({
    what: `${record.id}: env_provider_type ${JSON.stringify(name)} is no provider that is installed`,
    why: `installed are ${Object.keys(ENV_PROVIDERS).join(", ")}`,
    next: "install the plugin that has it, or set another one in its env.toml and run its bundle",
  });
}

const isProvider = (name: string): name is EnvProviderName => Object.hasOwn(ENV_PROVIDERS, name);

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
    next: "put it again, or run the bundle that writes it",
  });
}

function missing(kind: "env" | "image", ref: VersionedRef): UserError {
  const version = ref.version > 0 ? ` v${ref.version}` : "";
  return new UserError({
    what: `${ref.id}${version}: no such ${kind} in the store`,
    why: ref.version > 0 ? "nothing has written that version" : "nothing has written it",
    next: "run the bundle that holds it: `agent-env run <bundle>`",
  });
}
