import { DockerImageRecord } from "@agent-env/protocol";
import type { ArtifactType, Fields } from "./type.ts";

/** The description of an image, which names the Dockerfile that it is built from. */
export function builtFrom(entryPath: string, dockerfile: string): string {
  return `built from ${entryPath}/${dockerfile}`;
}

/** A folder that is an image: its Dockerfile is built under the folder's own id. */
export const dockerImage: ArtifactType = {
  kind: "artifact",
  type: "docker_image",
  tomlKeys: { description: "string" },
  tomlRefs: [],
  accept: (_config, context) => context.accepted(),
  writes: "image",
  read(record): Fields {
    const { description } = DockerImageRecord.parse(record);
    return typeof description === "string" ? { description } : {};
  },
};
