import { z } from "zod";
import { Name } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Puts an env back to how it was deployed, where its type can. */
export const resetEnvStep = stepOf({
  type: "reset_env",
  fields: z.object({ env_id: Name }),
  failsTask: false,
  entityRefs: [{ path: "env_id", kind: "env" }],
});
