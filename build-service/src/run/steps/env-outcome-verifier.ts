import { z } from "zod";
import { stepOf } from "./step.ts";

const Fields = z.object({
  env_id: z.string().min(1),
  file_artifact_id: z.string().min(1),
  file_artifact_version: z.int().positive().nullish(),
  prompt_id: z.string().nullish(),
  verifier_id: z.string().min(1).nullish(),
  score_aggregator: z.enum(["all_pass", "any_pass", "weighted_average"]).default("all_pass"),
});

export const envOutcomeVerifierStep = stepOf({
  type: "env_outcome_verifier",
  fields: Fields,
  entityRefs: [
    { path: "env_id", kind: "env" },
    { path: "file_artifact_id", kind: "artifact", versionPath: "file_artifact_version", types: ["file"] },
  ],
  async run() {
    throw new Error("written with the task graph");
  },
});
