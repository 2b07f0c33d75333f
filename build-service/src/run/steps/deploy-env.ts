import { z } from "zod";
import { Name, Version } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Fields = z.object({
  env_id: Name,
  env_version: Version,
  ttl_seconds: z.int().default(7200),
  disk_size_gb: z.number().default(10),
  gateway_mode: z.string().default("performance"),
  cpu: z.number().nullish(),
  memory_mb: z.number().nullish(),
  sandbox_type: Name.nullish(),
  artifact_id: Name.nullish(),
  artifact_version: Version,
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

export const deployEnvStep = stepOf({
  type: "deploy_env",
  fields: Fields,
  idle: ["disk_size_gb"],
  later: ["env_state_type", "env_state_instance_id"],
  entityRefs: [
    { path: "env_id", kind: "env", versionPath: "env_version" },
    { path: "artifact_id", kind: "artifact", versionPath: "artifact_version" },
  ],
  async run(fields, context) {
    const deployment = await context.deploy({
      envId: fields.env_id,
      version: fields.env_version ?? null,
      sandboxType: fields.sandbox_type ?? null,
      cpu: fields.cpu ?? null,
      memoryMb: fields.memory_mb ?? null,
      gatewayMode: fields.gateway_mode === "consistent" ? "consistent" : "performance",
      ttlSeconds: fields.ttl_seconds,
      metadata: { ...fields.metadata, deploy_step_id: context.stepId },
    });
    return `deployed ${deployment.record.deployment_id} at ${deployment.record.mcp_url ?? deployment.record.gateway_url}`;
  },
});
