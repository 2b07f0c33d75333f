import { readFile } from "node:fs/promises";
import { type AnyRecord, DockerImageRecord, derivedId, GatewayServerRecord, imageSuffix, UserError } from "@agent-env/protocol";
import { sha256Hex } from "../bundle/ids.ts";
import type { DeployContext } from "../deploy/deployment.ts";
import type { ImageBuilder, ImageSource } from "../images/builder.ts";
import { ensureBuilt } from "../images/ensure.ts";
import { imageRecordFields } from "../images/record-fields.ts";
import type { Store } from "../store/store.ts";
import { latestVersion, putNextVersion, readVersion } from "../store/versions.ts";
import { gatewayBundle } from "./gateway-bundle.ts";
import { sourceOf } from "./image-source.ts";

/** The id under which the gateway's env is written and looked for. */
const GATEWAY_ENV_ID = "default";
const INPUTS = "build_inputs_sha256";

export type InfraContext = Pick<DeployContext, "store" | "emit" | "signal"> & { readonly builder: ImageBuilder; readonly owner: string };

/**
 * The gateway's image, written and built where it is missing or was made from other sources than this agent-env's (5-run §4).
 * A record that doesn't say what it was made from is someone's own and is used as it is.
 */
export async function ensureGateway(context: InfraContext): Promise<DockerImageRecord> {
  const source = await gatewaySource();
  const image = (await storedImage(context.store, source)) ?? (await writtenImage(context, source));
  await ensureBuilt({ ...context, record: image, entry: image.id });
  return image;
}

/** Why a run would write the gateway's env before its first task; null when the stored one will do. Writes nothing. */
export async function gatewayToWrite(store: Store): Promise<string | null> {
  if ((await latestVersion(store, "env", GATEWAY_ENV_ID)) === 0) return "it is not in the store";
  return (await storedImage(store, await gatewaySource())) === null ? "this agent-env's image is not in the store" : null;
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

/** The image of the newest record if that one will do, else null. */
async function storedImage(store: Store, source: ImageSource): Promise<DockerImageRecord | null> {
  const version = await latestVersion(store, "env", GATEWAY_ENV_ID);
  if (version === 0) return null;
  const record = gatewayRecord(await readVersion(store, "env", GATEWAY_ENV_ID, version));
  const madeFrom = record.metadata[INPUTS];
  if (madeFrom !== undefined && madeFrom !== inputsDigest([source])) return null;
  const ref = record.docker_image_artifact;
  const image = await readVersion(store, "artifact", ref.id, ref.version);
  if (image !== null) return DockerImageRecord.parse(image);
  // Ours can be written anew.
  if (madeFrom !== undefined) return null;
  throw new UserError({
    what: `${GATEWAY_ENV_ID}: its image ${ref.id} v${ref.version} is not in the store`,
    why: "the env's record names it",
    next: "give that env back its image with what wrote it, or remove the env",
  });
}

/** One process writes at a time; one that had to wait finds it written. */
async function writtenImage(context: InfraContext, source: ImageSource): Promise<DockerImageRecord> {
  const { store, emit, signal, owner } = context;
  const lock = await store.lock(
    `env/${GATEWAY_ENV_ID}`,
    owner,
    (holder) => emit({ kind: "wait", entry: GATEWAY_ENV_ID, message: `waits for the gateway, which is written by ${holder}` }),
    signal,
  );
  try {
    const byAnother = await storedImage(store, source);
    if (byAnother !== null) return byAnother;
    const image = await writeImage(context, source);
    const env = await putNextVersion(store, "env", gatewayFields(image, source), {});
    emit({ kind: "infra", entry: GATEWAY_ENV_ID, message: `wrote the gateway, v${env.version}` });
    return image;
  } finally {
    await lock.release();
  }
}

async function writeImage({ store }: InfraContext, source: ImageSource): Promise<DockerImageRecord> {
  const id = derivedId(GATEWAY_ENV_ID, imageSuffix("env", "image"));
  const latest = await readVersion(store, "artifact", id, await latestVersion(store, "artifact", id));
  // Written by a run that ended before it wrote the env.
  if (latest?.["source_digest"] === source.digest) return DockerImageRecord.parse(latest);
  const description = "the gateway of this agent-env";
  const fields = { id, type: "docker_image", description, ...(await imageRecordFields(store, id, source)) };
  return DockerImageRecord.parse(await putNextVersion(store, "artifact", fields, {}));
}

function gatewayFields(image: DockerImageRecord, source: ImageSource): Omit<AnyRecord, "version"> {
  return {
    id: GATEWAY_ENV_ID,
    type: "gateway_server",
    metadata: { [INPUTS]: inputsDigest([source]) },
    docker_image_artifact: { id: image.id, version: image.version, type: image.type },
  };
}

function gatewayRecord(record: AnyRecord | null): GatewayServerRecord {
  const parsed = GatewayServerRecord.safeParse(record);
  if (parsed.success) return parsed.data;
  throw new UserError({
    what: `${GATEWAY_ENV_ID}: an env of type ${record?.type ?? "none"} in the store, and the gateway is looked for under that id`,
    why: "what wrote it took the gateway's id",
    next: "give your env another id",
  });
}

/** sha256 over the source digests of the contexts, each followed by a NUL. */
function inputsDigest(sources: readonly ImageSource[]): string {
  return sha256Hex(sources.map(({ digest }) => `${digest}\0`).join(""));
}
