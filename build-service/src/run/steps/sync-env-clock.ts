import { z } from "zod";
import { Name, Seconds } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** Sets a deployed env's time, and that of each server that follows it. */
export const syncEnvClockStep = stepOf({
  type: "sync_env_clock",
  fields: z.object({
    env_id: Name,
    virtual_time: Name,
    virtual_seconds_per_real_second: z.number().min(0).max(86_400).default(1),
    tolerate_missing_sync_time: z.boolean().default(true),
    timeout_seconds: Seconds.default(30),
  }),
  entityRefs: [{ path: "env_id", kind: "env" }],
});
