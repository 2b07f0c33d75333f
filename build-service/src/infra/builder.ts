import { BUILD_TIMEOUT_S, engineBuilder } from "../images/build.ts";
import type { ImageBuilder } from "../images/builder.ts";
import { connectEngine } from "../images/engine.ts";
import { sdkBase } from "./sdk-image.ts";

/** Builds on this machine's Engine, and makes the base images that are ours. Opens nothing until it is asked. */
export function imageBuilder({ timeoutS = BUILD_TIMEOUT_S }: { readonly timeoutS?: number } = {}): ImageBuilder {
  return engineBuilder(connectEngine(), { ownBases: [sdkBase], timeoutS });
}
