import { readFile } from "node:fs/promises";
import { type AnyRecord, DockerImageRecord, derivedId, GatewayServerRecord, imageSuffix, UserError } from "@agent-env/protocol";
import { sha256Hex } from "../bundle/ids.ts";
import type { DeployContext } from "../deploy/deployment.ts";
import type { ImageBuilder, ImageSource } from "../images/builder.ts";
import { ensureBuilt } from "../images/ensure.ts";
import { imageRecordFields } from "../images/record-fields.ts";
import { latestVersion, putNextVersion, readVersion } from "../store/versions.ts";
import { gatewayBundle } from "./gateway-bundle.ts";
import { onPlatform, sourceOf } from "./image-source.ts";

const INPUTS = "build_inputs_sha256";

export type InfraContext = Pick<DeployContext, "store" | "emit" | "signal" | "gatewayEnvId"> & {
  readonly builder: ImageBuilder;
  readonly owner: string;
};

type GatewayPlace = Pick<InfraContext, "store" | "gatewayEnvId">;

/**
 * The gateway's image, written and built where it is missing or was made from other sources than this agent-env's (5-run §4).
 * A record that doesn't say what it was made from is someone's own and is used as it is.
 */
export async function ensureGateway(context: InfraContext): Promise<DockerImageRecord> {
  const source = await gatewaySource();
  const image = (await storedImage(context, source)) ?? (await writtenImage(context, source));
  await ensureBuilt({ ...context, record: image, entry: image.id });
  return image;
}

/** Why a run would write the gateway's env before its first task; null when the stored one will do. Writes nothing. */
export async function gatewayToWrite(place: GatewayPlace): Promise<string | null> {
  if ((await latestVersion(place.store, "env", place.gatewayEnvId)) === 0) return "it is not in the store";
  return (await storedImage(place, await gatewaySource())) === null ? "this agent-env's image is not in the store" : null;
}

/** What the gateway's image is built from: its bundle, and the Dockerfile that ships with it. */
export async function gatewaySource(): Promise<ImageSource> {
  const dockerfile = await readFile(new URL(import.meta.resolve("@agent-env/gateway/Dockerfile")), "utf8");
  return sourceOf(
    new Map([
      ["Dockerfile", dockerfile],
      ["gateway.mjs", await gatewayBundle()],
    ]),
  );
}

/**
 * Why the env that `[envs] default_gateway_env_id` names can't be the gateway (`deploy-infra`); null when it can, or when a
 * run writes it. A run writes to this machine's store only (5-run §4.3).
 */
export async function gatewayEnvProblem({ store, gatewayEnvId }: GatewayPlace): Promise<string | null> {
  const record = await readVersion(store, "env", gatewayEnvId, await latestVersion(store, "env", gatewayEnvId));
  if (record !== null && record.type !== "gateway_server") {
    return `${gatewayEnvId} is an env of type ${record.type} in the store, and [envs] default_gateway_env_id names it as the gateway's: name another there`;
  }
  if (isWrittenByRuns({ store, gatewayEnvId }) || (await storedImage({ store, gatewayEnvId }, await gatewaySource())) !== null) return null;
  return `the gateway's env, ${gatewayEnvId}, ${lackOf(record)}: ${putCommand(gatewayEnvId)}`;
}

const isWrittenByRuns = ({ store, gatewayEnvId }: GatewayPlace): boolean => store.of(gatewayEnvId) === store.local;
const putCommand = (id: string): string => `agent-env env gateway put --id ${id}`;
const lackOf = (record: AnyRecord | null): string =>
  record === null ? "is not in the store that [stores] records names" : "is another agent-env's in the store that [stores] records names";

/** The image of the newest record if that one will do, else null. */
async function storedImage({ store, gatewayEnvId }: GatewayPlace, source: ImageSource): Promise<DockerImageRecord | null> {
  const version = await latestVersion(store, "env", gatewayEnvId);
  if (version === 0) return null;
  const record = gatewayRecord(gatewayEnvId, await readVersion(store, "env", gatewayEnvId, version));
  const madeFrom = record.metadata[INPUTS];
  if (madeFrom !== undefined && madeFrom !== inputsDigest([source])) return null;
  const ref = record.docker_image_artifact;
  const image = await readVersion(store, "artifact", ref.id, ref.version);
  if (image !== null) return DockerImageRecord.parse(image);
  // Ours can be written anew.
  if (madeFrom !== undefined) return null;
  throw new UserError({
    what: `${gatewayEnvId}: its image ${ref.id} v${ref.version} is not in the store`,
    why: "the env's record names it",
    next: "give that env back its image with what wrote it, or remove the env",
  });
}

/** One process writes at a time; one that had to wait finds it written. */
async function writtenImage(context: WriteContext, source: ImageSource): Promise<DockerImageRecord> {
  if (!isWrittenByRuns(context)) {
    const { store, gatewayEnvId } = context;
    const record = await readVersion(store, "env", gatewayEnvId, await latestVersion(store, "env", gatewayEnvId));
    throw new UserError({
      what: `the gateway's env, ${gatewayEnvId}, ${lackOf(record)}`,
      why: "a run writes to this machine's store only",
      next: putCommand(gatewayEnvId),
    });
  }
  return locked(context, async () => {
    const byAnother = await storedImage(context, source);
    return byAnother ?? (await writeGateway(context, { source, platform: null, metadata: {}, marks: {} })).image;
  });
}

/**
 * Writes this agent-env's gateway as the next version of the env, for `platform`, whatever is stored (5-run §4.4). Builds
 * nothing. Throws a UserError where the id is another type of env.
 */
export async function putGateway(
  context: WriteContext,
  put: { readonly platform: string | null; readonly metadata: Readonly<Record<string, unknown>> },
): Promise<WrittenGateway> {
  const { store, gatewayEnvId } = context;
  const source = await gatewaySource();
  return locked(context, async () => {
    const latest = await readVersion(store, "env", gatewayEnvId, await latestVersion(store, "env", gatewayEnvId));
    if (latest !== null && latest.type !== "gateway_server") {
      throw new UserError({
        what: `--id: ${gatewayEnvId} is an env of type ${latest.type} in the store, and this is a gateway_server`,
        why: "an id keeps the type that it had first",
        next: "put the gateway under another id, and name that in [envs] default_gateway_env_id",
      });
    }
    return writeGateway(context, { source, ...put, marks: { "put-at": new Date().toISOString() } });
  });
}

type WriteContext = Omit<InfraContext, "builder">;
type WrittenGateway = { readonly image: DockerImageRecord; readonly env: AnyRecord };

async function locked<T>({ store, emit, signal, owner, gatewayEnvId }: WriteContext, write: () => Promise<T>): Promise<T> {
  const onWait = (holder: string): void =>
    emit({ kind: "wait", entry: gatewayEnvId, message: `waits for the gateway, which is written by ${holder}` });
  const lock = await store.of(gatewayEnvId).lock(`env/${gatewayEnvId}`, owner, onWait, signal);
  try {
    return await write();
  } finally {
    await lock.release();
  }
}

type Gateway = {
  readonly source: ImageSource;
  readonly platform: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Of the record's object. */
  readonly marks: Record<string, string>;
};

async function writeGateway(context: WriteContext, { source, platform, metadata, marks }: Gateway): Promise<WrittenGateway> {
  const { store, emit, gatewayEnvId } = context;
  const image = await writeImage(context, onPlatform(source, platform));
  const fields = gatewayFields(gatewayEnvId, image, source);
  const env = await putNextVersion(store, "env", { ...fields, metadata: { ...metadata, ...fields.metadata } }, marks);
  emit({ kind: "infra", entry: gatewayEnvId, message: `wrote the gateway, v${env.version}` });
  return { image, env };
}

async function writeImage({ store, gatewayEnvId, signal }: WriteContext, source: ImageSource): Promise<DockerImageRecord> {
  const id = derivedId(gatewayEnvId, imageSuffix("env", "image"));
  const latest = await readVersion(store, "artifact", id, await latestVersion(store, "artifact", id));
  // Written by a run that ended before it wrote the env.
  if (latest?.["source_digest"] === source.digest) return DockerImageRecord.parse(latest);
  const description = "the gateway of this agent-env";
  const fields = { id, type: "docker_image", description, ...(await imageRecordFields(id, source, { store, signal })) };
  return DockerImageRecord.parse(await putNextVersion(store, "artifact", fields, {}));
}

function gatewayFields(id: string, image: DockerImageRecord, source: ImageSource) {
  return {
    id,
    type: "gateway_server",
    metadata: { [INPUTS]: inputsDigest([source]) },
    docker_image_artifact: { id: image.id, version: image.version, type: image.type },
  };
}

function gatewayRecord(id: string, record: AnyRecord | null): GatewayServerRecord {
  const parsed = GatewayServerRecord.safeParse(record);
  if (parsed.success) return parsed.data;
  throw new UserError({
    what: `${id}: an env of type ${record?.type ?? "none"} in the store, and the gateway is looked for under that id`,
    why: "[envs] default_gateway_env_id names it, or it took the id that holds where nothing is set",
    next: "name another in [envs] default_gateway_env_id",
  });
}

/** sha256 over the source digests of the contexts, each followed by a NUL. */
function inputsDigest(sources: readonly ImageSource[]): string {
  return sha256Hex(sources.map(({ digest }) => `${digest}\0`).join(""));
}
