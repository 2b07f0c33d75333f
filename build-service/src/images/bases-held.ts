import { UserError } from "@agent-env/protocol";
import type Docker from "dockerode";
import type { Emit } from "../report/events.ts";
import { engineLines } from "./build-log.ts";
import { ask, engineMessage, orWhenGone } from "./engine.ts";
import { type Locked, lockedReference, repositoryOf } from "./locked.ts";

/** A base image that comes from this product and from no registry. */
export type OwnBase = {
  owns(reference: string): boolean;
  /** Makes it on the Engine where it isn't there as it should be. */
  make(reference: string, request: BaseRequest): Promise<void>;
  /** False when the one that the Engine holds is out of date, so that the next build will make another. */
  isCurrent(reference: string, labels: Readonly<Record<string, string>>): Promise<boolean>;
};

export type BaseRequest = {
  readonly docker: Docker;
  /** The entry whose image is to be built on it, for events and messages. */
  readonly entry: string;
  readonly platform: string | null;
  readonly emit: Emit;
  readonly signal: AbortSignal;
};

/**
 * The Engine's ids of the base images, after those that it lacked were made or pulled. Throws a UserError that names the
 * one that can't be had.
 */
export async function heldBases(
  references: readonly string[],
  { ownBases, locked }: { readonly ownBases: readonly OwnBase[]; readonly locked: Locked },
  request: BaseRequest,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const reference of references) {
    const own = ownBases.find((base) => base.owns(reference));
    if (own) await own.make(reference, request);
    const named = lockedReference(reference, locked);
    ids[reference] = (await imageId(request.docker, named)) ?? (await pulled(named, LACKING, request));
  }
  return ids;
}

/** What a base image lacks that is neither here nor in a registry. */
const LACKING = {
  what: "is not on this machine and can't be pulled",
  next: "make its registry reachable, or `docker load` the image; in a checkout, `npm run setup` makes local stand-ins of the usual ones",
};

/** Pulls a base image whether or not the Engine holds one of that name, and gives its digest in its registry. */
export async function fetchedDigest(reference: string, request: BaseRequest): Promise<string> {
  await pulled(
    reference,
    { what: "can't be pulled", next: "make its registry reachable, or leave --pull out to build on what is here" },
    request,
  );
  const { RepoDigests } = await ask(`look for the image ${reference}`, request.docker.getImage(reference).inspect());
  const own = RepoDigests.find((digest) => familiar(repositoryOf(digest)) === familiar(repositoryOf(reference)));
  const digest = own?.split("@")[1];
  if (digest === undefined) throw new Error(`${reference} was pulled, and the Engine knows no digest of it: ${RepoDigests.join(", ")}`);
  return digest;
}

/** The Engine leaves out Docker Hub's own names. */
function familiar(repository: string): string {
  return repository.replace(/^(?:index\.)?docker\.io\//, "").replace(/^library\//, "");
}

/** The Engine's id of an image, or null when it holds none of that name. */
export async function imageId(docker: Docker, reference: string): Promise<string | null> {
  const found = await ask(`look for the image ${reference}`, orWhenGone(null, docker.getImage(reference).inspect()));
  return found?.Id ?? null;
}

async function pulled(reference: string, failure: typeof LACKING, { docker, entry, platform, emit, signal }: BaseRequest): Promise<string> {
  emit({ kind: "image", entry, phase: "log", message: `pulling the base image ${reference}` });
  try {
    const stream = await docker.pull(withTag(reference), { abortSignal: signal, ...(platform === null ? {} : { platform }) });
    for await (const line of engineLines(stream as AsyncIterable<Uint8Array>)) {
      if (line.error) throw new Error(line.errorDetail?.message ?? line.error);
      // Layers report many times a second; what ends is worth a line.
      if (line.status && !line.progress) {
        emit({ kind: "image", entry, phase: "log", message: line.id ? `${line.id}: ${line.status}` : line.status });
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new UserError(
      {
        what: `${entry}: the base image ${reference} ${failure.what}`,
        why: engineMessage(error),
        next: failure.next,
      },
      { cause: error },
    );
  }
  const id = await imageId(docker, reference);
  if (id === null) throw new Error(`${reference} was pulled and is not on the Engine`);
  return id;
}

/** The Engine pulls every tag of a repository that is named without one. */
function withTag(reference: string): string {
  const lastPart = reference.slice(reference.lastIndexOf("/") + 1);
  return lastPart.includes(":") || lastPart.includes("@") ? reference : `${reference}:latest`;
}
