import { UserError } from "@agent-env/protocol";
import type { BaseRequest, OwnBase } from "../images/bases-held.ts";
import { BUILD_TIMEOUT_S, engineBuilder, SOURCE_LABEL } from "../images/build.ts";
import type { ImageSource } from "../images/builder.ts";
import { ask, orWhenGone } from "../images/engine.ts";
import { sourceOf } from "./image-source.ts";
import { FRONT_END_COMMAND, sdkFiles, sdkVersion } from "./sdk-files.ts";

const REPOSITORY = "agent-env/sdk";

/** `/app` holds the env, next to the SDK: Node finds it by its name from there. */
const DOCKERFILE = `FROM node:24-slim
COPY node_modules /node_modules
ENV PATH=/node_modules/.bin:$PATH
WORKDIR /app
`;

/**
 * The base image `agent-env/sdk:<version>`, from no registry: made on demand before the first build that names it, and again
 * when what it would be made from has changed.
 */
export const sdkBase: OwnBase = {
  owns: (reference) => reference === REPOSITORY || reference.startsWith(`${REPOSITORY}:`),

  async isCurrent(_reference, labels) {
    return labels[SOURCE_LABEL] === (await sdkSource()).digest;
  },

  async make(reference, request) {
    const own = `${REPOSITORY}:${await sdkVersion()}`;
    if (reference !== own) {
      throw new UserError({
        what: `${request.entry}: the base image ${reference} is not one that this agent-env makes`,
        why: `it makes ${own}, with the SDK that it came with`,
        next: `write FROM ${own}, or install the agent-env of that version`,
      });
    }
    making ??= makeSdkImage(own, request).finally(() => {
      making = null;
    });
    await making;
  },
};

/** Builds that run side by side wait for one. */
let making: Promise<void> | null = null;

async function makeSdkImage(own: string, { docker, emit, signal }: BaseRequest): Promise<void> {
  const source = await sdkSource();
  const held = await ask(`look for the image ${own}`, orWhenGone(null, docker.getImage(own).inspect()));
  if (held?.Config.Labels?.[SOURCE_LABEL] === source.digest) return;
  const why = held === null ? "it is not on this machine yet" : "the SDK has changed";
  emit({ kind: "infra", entry: own, message: `making the base image ${own}: ${why}` });
  const { digest: sourceDigest, dockerfile } = source;
  const request = {
    entry: own,
    imageId: own,
    sourceDigest,
    dockerfile,
    platform: null,
    tag: own,
    context: await source.tar(signal),
  };
  await engineBuilder(docker, { ownBases: [], timeoutS: BUILD_TIMEOUT_S }).build(request, emit, signal);
}

async function sdkSource(): Promise<ImageSource> {
  const files = await sdkFiles();
  return sourceOf(new Map([["Dockerfile", DOCKERFILE], ...files]), [`node_modules/.bin/${FRONT_END_COMMAND}`]);
}
