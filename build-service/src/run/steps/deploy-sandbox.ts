import { z } from "zod";
import { Machine, Name, Variables } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Port = z.int().min(1).max(65_535);

/** A bare machine to run commands on, or the container of a registry's image. */
export const deploySandboxStep = stepOf({
  type: "deploy_sandbox",
  fields: z.object({
    sandbox_name: Name,
    sandbox_mode: z.enum(["vm", "container"]),
    image: Name.nullish(),
    port: Port.nullish(),
    exposed_ports: z.array(Port).default([]),
    env_vars: Variables.nullish(),
    ...Machine,
    disk_size_gb: z.number().default(10),
    boot_mode: Name.nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  }),
  entityRefs: [],
});
