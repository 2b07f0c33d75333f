import { z } from "zod";
import { Name } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Takes tools of a deployed env from a role, or gives them back. */
export const modifyEnvToolAccessStep = stepOf({
  type: "modify_env_tool_access",
  fields: z.object({ env_id: Name, action: z.enum(["disable", "enable"]), role: Name, tools: z.array(Name) }),
  entityRefs: [{ path: "env_id", kind: "env" }],
});
