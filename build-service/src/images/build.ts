import { Readable } from "node:stream";
import { UserError } from "@agent-env/protocol";
import type Docker from "dockerode";
import type { Emit } from "../report/events.ts";
import { dockerfileFacts } from "./bases.ts";
import { fetchedDigest, heldBases, imageId, type OwnBase } from "./bases-held.ts";
import { BuildLog, type BuildStep, engineLines } from "./build-log.ts";
import type { BuildRequest, BuildResult, ImageBuilder } from "./builder.ts";
import { ask, engineMessage, engineStatus, orWhenGone } from "./engine.ts";
import { lockedDockerfile } from "./locked.ts";
import { platformOf } from "./platform.ts";
import { fileInTar, withFile } from "./tar-entry.ts";

/** Labels of every image that is built here (4-bundle §10.6). */
export const IMAGE_LABEL = "agent-env.image";
export const SOURCE_LABEL = "agent-env.source";

/** How much of a failed build's output its message shows. */
const TAIL_LINES = 40;
/** How long an aborted step's container may take to go. */
const ABORT_BUDGET_MS = 20_000;

/** `[build] timeout_s`, where no configuration says otherwise. */
export const BUILD_TIMEOUT_S = 3_600;

/** How images are built on one Engine. */
export type EngineBuilds = {
  readonly ownBases: readonly OwnBase[];
  /** A build that takes longer is ended (4-bundle §10.8). */
  readonly timeoutS: number;
};

/** Images over one Engine's API, through its classic builder. */
export function engineBuilder(docker: Docker, builds: EngineBuilds): ImageBuilder {
  const { ownBases } = builds;
  return {
    build: (request, emit, signal) => buildImage(docker, builds, request, emit, signal),
    async platform() {
      const { Os, Arch } = await ask("tell its platform", docker.version());
      return platformOf(`${Os}/${Arch}`, "the Docker Engine's own platform");
    },
    holds: async (engineImageId) => (await imageId(docker, engineImageId)) !== null,
    async idsOf(references) {
      const ids: Record<string, string> = {};
      for (const reference of references) {
        const found = await ask(`look for the image ${reference}`, orWhenGone(null, docker.getImage(reference).inspect()));
        if (found === null) continue;
        const own = ownBases.find((base) => base.owns(reference));
        const current = own === undefined || (await own.isCurrent(reference, found.Config.Labels ?? {}));
        ids[reference] = current ? found.Id : `${found.Id} (out of date)`;
      }
      return ids;
    },
    async fetchBase(reference, request) {
      return ownBases.some((base) => base.owns(reference)) ? null : fetchedDigest(reference, { ...request, docker });
    },
  };
}

/**
 * Builds one image from exactly the given tar. Emits each step as it starts and each line of output. Throws a UserError with
 * the first error and the last 40 lines when the build fails, and `signal.reason` when it is aborted.
 */
async function buildImage(
  docker: Docker,
  { ownBases, timeoutS }: EngineBuilds,
  request: BuildRequest,
  emit: Emit,
  signal: AbortSignal,
): Promise<BuildResult> {
  const { entry, dockerfile, platform, locked = new Map<string, string>() } = request;
  signal.throwIfAborted();
  const dockerfileText = await fileInTar(request.context, dockerfile);
  if (dockerfileText === null) throw new Error(`${entry}: the context of ${request.sourceDigest} holds no ${dockerfile}`);
  const facts = dockerfileFacts(dockerfileText);
  if (facts.needsBuildKit.length > 0) {
    throw new UserError({
      what: `${entry}: ${dockerfile}: ${facts.needsBuildKit.join("; ")}`,
      why: "images are built by the Engine's classic builder, the one that every Engine has",
      next: "write those lines without it",
    });
  }

  emit({ kind: "image", entry, phase: "start", message: `building ${request.tag}` });
  const bases = await heldBases(facts.bases, { ownBases, locked }, { docker, entry, platform, emit, signal });
  const lockedText = lockedDockerfile(dockerfileText, locked);
  const context = lockedText === null ? request.context : await withFile(request.context, dockerfile, lockedText);
  const log = await runBuild(docker, { ...request, context }, timeoutS, { emit, signal });
  if (log.error !== null || log.imageId === null) throw buildFailure(request, log, emit);
  emit({ kind: "image", entry, phase: "done", message: `built ${log.imageId}` });
  const lockedBases = Object.fromEntries([...locked].filter(([reference]) => Object.hasOwn(bases, reference)));
  return { engineImageId: log.imageId, bases, locked: lockedBases, log: log.text };
}

async function runBuild(
  docker: Docker,
  request: BuildRequest,
  timeoutS: number,
  { emit, signal }: { readonly emit: Emit; readonly signal: AbortSignal },
): Promise<BuildLog> {
  const { entry, imageId, sourceDigest, dockerfile, platform, tag } = request;
  const log = new BuildLog();
  const deadline = AbortSignal.timeout(timeoutS * 1000);
  const either = AbortSignal.any([signal, deadline]);
  try {
    const output = await docker.buildImage(Readable.from([request.context]), {
      dockerfile,
      t: tag,
      labels: { [IMAGE_LABEL]: imageId, [SOURCE_LABEL]: sourceDigest },
      // An aborted build leaves its containers unless both are set.
      rm: true,
      forcerm: true,
      abortSignal: either,
      nocache: request.isFresh === true,
      ...(platform === null ? {} : { platform }),
    });
    let shown: BuildStep | null = null;
    for await (const message of engineLines(output as AsyncIterable<Uint8Array>)) {
      for (const line of log.add(message)) {
        if (log.step !== null && log.step !== shown) {
          shown = log.step;
          emit({ kind: "image", entry, phase: "step", message: shown.instruction, step: shown.step, steps: shown.steps });
        } else {
          emit({ kind: "image", entry, phase: "log", message: line });
        }
      }
    }
  } catch (error) {
    if (either.aborted && log.runningIn !== null) await gone(docker, log.runningIn);
    signal.throwIfAborted();
    // An answer with a status is what the builder can't even start on: a Dockerfile that doesn't parse.
    if (deadline.aborted) log.error ??= `it did not end within ${timeoutS} s ([build] timeout_s)`;
    else if (engineStatus(error) === null) return ask(`build ${entry}`, Promise.reject(error));
    log.error ??= engineMessage(error);
  }
  return log;
}

/** Waits until the Engine has removed the container of an aborted step, which it does once it notices. */
async function gone(docker: Docker, containerId: string): Promise<void> {
  await orWhenGone(
    null,
    docker.getContainer(containerId).wait({ condition: "removed", abortSignal: AbortSignal.timeout(ABORT_BUDGET_MS) }),
  );
}

function buildFailure(request: BuildRequest, log: BuildLog, emit: Emit): UserError {
  const { entry, dockerfile } = request;
  const error = log.error ?? "the Engine ended the build without an image";
  const at = log.step === null ? "" : ` at step ${log.step.step} of ${log.step.steps}: ${log.step.instruction}`;
  const tail = log.tail(TAIL_LINES);
  emit({ kind: "image", entry, phase: "failed", message: error });
  return new BuildFailed(
    {
      what: `${entry}: the build of ${dockerfile} failed${at}`,
      why: tail === "" ? error : `${error}\nIts last lines:\n${tail}`,
      next: `mend ${dockerfile} or what it copies, then run the same command again`,
    },
    log.text,
  );
}

/** A build that failed, with its whole log. */
export class BuildFailed extends UserError {
  readonly log: string;

  constructor(problem: { what: string; why: string; next: string }, log: string) {
    super(problem);
    this.name = "BuildFailed";
    this.log = log;
  }
}
