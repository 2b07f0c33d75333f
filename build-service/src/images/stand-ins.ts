import { IMAGE_LABEL } from "./build.ts";
import { ask, connectEngine } from "./engine.ts";

/** The label of a local image that stands for an official one which could not be pulled. */
const STAND_IN_LABEL = "agent-env.stand-in";

/** The tags on this machine's Engine that are stand-ins, sorted: `node:24-slim`. An env built on one isn't built on the real image. */
export async function standIns(): Promise<string[]> {
  const images = await ask("list its images", connectEngine().listImages({ filters: { label: [`${STAND_IN_LABEL}=true`] } }));
  const isBuilt = (labels: Record<string, string> | null): boolean => labels?.[IMAGE_LABEL] !== undefined;
  return [...new Set(images.filter(({ Labels }) => !isBuilt(Labels)).flatMap(({ RepoTags }) => RepoTags ?? []))]
    .filter((tag) => tag !== "<none>:<none>")
    .sort();
}
