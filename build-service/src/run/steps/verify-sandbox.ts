import { z } from "zod";
import { chosen, Name, Seconds, Verifier } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Looks at the files of a deployed machine, and runs commands there. */
export const verifySandboxStep = stepOf({
  type: "verify_sandbox",
  fields: z.object({
    criteria: z.array(z.looseObject({ type: Name })).default([]),
    agent_name: Name.nullish(),
    sandbox_name: Name.nullish(),
    base_dir: Name.default("/app"),
    shell_timeout_seconds: Seconds.default(120),
    ...Verifier,
  }),
  entityRefs: [],
  check: (fields) =>
    chosen(fields, ["agent_name", "sandbox_name"]).length > 1 ? ["agent_name and sandbox_name exclude each other: keep one"] : [],
});
