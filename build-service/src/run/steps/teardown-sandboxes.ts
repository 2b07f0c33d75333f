import { z } from "zod";
import { Name } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Ends deployed things before the task does. It never fails. */
export const teardownSandboxesStep = stepOf({
  type: "teardown_sandboxes",
  fields: z.object({
    agent_names: z.array(Name).default([]),
    env_ids: z.array(Name).default([]),
    sandbox_names: z.array(Name).default([]),
  }),
  failsTask: false,
  entityRefs: [{ path: "env_ids[]", kind: "env" }],
  check: (_fields, raw) =>
    raw["fail_task_on_error"] === true ? ["fail_task_on_error: true is of no use, since this step never fails: leave it out"] : [],
});
