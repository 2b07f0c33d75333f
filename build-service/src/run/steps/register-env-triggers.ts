import { z } from "zod";
import { Name, Seconds } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Registers a deployed env's triggers, with the agents that carry out what they say in words. */
export const registerEnvTriggersStep = stepOf({
  type: "register_env_triggers",
  fields: z.object({
    env_id: Name,
    triggers: z.array(z.record(z.string(), z.unknown())),
    watch_roles: z.array(Name).nullish(),
    executor_agent_name: Name.nullish(),
    executor_timeout_seconds: Seconds.default(120),
    executor_hours: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
    await_fired: z.array(Name).nullish(),
    await_timeout_seconds: Seconds.default(120),
  }),
  entityRefs: [{ path: "env_id", kind: "env" }],
});
