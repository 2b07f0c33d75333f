import { type AnyRecord, DockerImageRecord, UserError } from "@agent-env/protocol";
import { z } from "zod";
import { childRefs } from "../bundle/servers.ts";
import { envProviderName } from "../providers/env/name.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, requiredVersion } from "../store/versions.ts";
import { envShape } from "../types/can-deploy.ts";
import { imageKeys } from "../types/image-keys.ts";
import { pinOf } from "../types/refs.ts";
import { findType, type Registry, typeNames, whyUnavailable } from "../types/registry.ts";
import type { EnvType, Fields } from "../types/type.ts";
import type { DeployableEnv, DeployableImage, DeployableServer } from "./deployment.ts";

/**
 * A stored env with all that its record references, each at the version that the record names; `version` null: the latest.
 * Throws a UserError when something isn't there, or is nothing that can be deployed.
 */
export async function loadDeployableEnv(
  store: Store,
  registry: Registry,
  { id, version }: { readonly id: string; readonly version: number | null },
): Promise<DeployableEnv> {
  const chosen = version ?? (await latestVersion(store, "env", id));
  const { type, fields } = readEnv(await requiredVersion(store, "env", { id, version: chosen }), registry);
  const name = fields["name"];
  return {
    id,
    version: chosen,
    type: type.type,
    shape: envShape(type),
    provider: envProviderName(id, fields["env_provider_type"], registry),
    name: "lists" in type.topology && typeof name === "string" ? name : null,
    servers: await servers(store, registry, { type, fields }),
  };
}

type ReadEnv = { readonly type: EnvType; readonly fields: Fields };

/** A record as the type that it names reads it. */
function readEnv(record: AnyRecord, registry: Registry): ReadEnv {
  const type = findType(registry, "env", record.type);
  if (type?.kind !== "env") {
    throw new UserError({
      what: `${record.id}: an env of type ${record.type} is not deployed by itself`,
      why: `${typeNames(registry, "env").join(", ")} are${whyUnavailable(registry, "env type", record.type)}`,
      next: "name one of those; `agent-env env list --all` shows what was deployed",
    });
  }
  try {
    return { type, fields: type.read(record) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw unreadable(record, error);
  }
}

async function servers(store: Store, registry: Registry, { type, fields }: ReadEnv): Promise<DeployableServer[]> {
  if ("server" in type.topology) return [await server(store, type, type.topology.server, fields)];
  const children = childRefs(type, fields).map(async ({ ref }) => {
    const { id, version } = pinOf(ref);
    const chosen = version ?? (await latestVersion(store, "env", id));
    return servers(store, registry, readEnv(await requiredVersion(store, "env", { id, version: chosen }), registry));
  });
  return (await Promise.all(children)).flat();
}

/** An env that is one server. Images that the topology has no place for are an env's own affair. */
async function server(store: Store, type: EnvType, kind: DeployableServer["kind"], fields: Fields): Promise<DeployableServer> {
  const name = String(fields["environment_name"]);
  const load = (key: string) => image(store, key, fields[key]);
  if (kind === "website") {
    const [backend, frontend] = await Promise.all([load("backend_image"), load("frontend_image")]);
    return { kind, name, backend, frontend };
  }
  const [first = "image", ...others] = imageKeys(type);
  return { kind, name, image: await load(others.includes("image") ? "image" : first) };
}

async function image(store: Store, key: string, ref: unknown): Promise<DeployableImage> {
  const { id, version } = pinOf(ref);
  const chosen = version ?? (await latestVersion(store, "artifact", id));
  const record = await requiredVersion(store, "artifact", { id, version: chosen }, "image");
  const parsed = DockerImageRecord.safeParse(record);
  if (!parsed.success) throw unreadable(record, parsed.error);
  return { key, record: parsed.data };
}

function unreadable(record: AnyRecord, error: z.ZodError): UserError {
  const [issue] = error.issues;
  return new UserError({
    what: `${record.id} v${record.version}: its record can't be deployed`,
    why: issue ? `${issue.path.join(".") || "record"}: ${issue.message}` : `it is of type ${record.type}`,
    next: "run the bundle that writes it: `agent-env run <bundle>`",
  });
}
