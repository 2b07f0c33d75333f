import { z } from "zod";
import { Name, Seconds, Variables } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Runs a command in a container of the task, and scores its exit code or the number that it leaves in a file. */
export const runContainerUnitTestsVerifierStep = stepOf({
  type: "run_container_unit_tests_verifier",
  fields: z.object({
    sandbox_name: Name,
    container_name: Name,
    command: Name,
    setup_commands: z.array(Name).default([]),
    user: Name.default("root"),
    timeout_sec: Seconds.default(300),
    env_vars: Variables.default({}),
    result_paths: z.array(Name).default([]),
    reward_path: Name.nullish(),
    verifier_id: Name.nullish(),
  }),
  entityRefs: [],
});
