import { z } from "zod";
import { chosen, Name, Seconds, Version } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const TARGETS = ["env_id", "sandbox_name", "agent_name"];

/** Runs a Python function of the author's on a deployed machine, and keeps what it gives. */
export const runCodeStep = stepOf({
  type: "run_code",
  fields: z.object({
    script_artifact_id: Name,
    script_artifact_version: Version,
    entrypoint: Name.default("run"),
    script_file: Name.nullish(),
    args: z.record(z.string(), z.unknown()).default({}),
    result_id: Name.nullish(),
    timeout_seconds: Seconds.default(600),
    env_id: Name.nullish(),
    sandbox_name: Name.nullish(),
    agent_name: Name.nullish(),
  }),
  entityRefs: [
    {
      path: "script_artifact_id",
      kind: "artifact",
      versionPath: "script_artifact_version",
      types: ["file", "file_artifact_universe"],
    },
    { path: "env_id", kind: "env" },
  ],
  check(fields) {
    const targets = chosen(fields, TARGETS);
    return targets.length > 1 ? [`${targets.join(" and ")} exclude each other: keep one`] : [];
  },
});
