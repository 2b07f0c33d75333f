import { z } from "zod";
import { stepOf } from "./step.ts";

const Fields = z.object({
  artifacts: z.array(z.object({ id: z.string().min(1), version: z.int().positive().nullish() })).nullish(),
  artifact_id: z.string().min(1).nullish(),
  artifact_version: z.int().positive().nullish(),
  env_id: z.string().min(1).nullish(),
  env_step_id: z.string().min(1).nullish(),
});

export const loadArtifactStep = stepOf({
  type: "load_artifact",
  fields: Fields,
  entityRefs: [
    { path: "artifacts[].id", kind: "artifact", versionPath: "artifacts[].version" },
    { path: "artifact_id", kind: "artifact", versionPath: "artifact_version" },
    { path: "env_id", kind: "env" },
  ],
  async run() {
    throw new Error("written with the task graph");
  },
});
