import { z } from "zod";
import { Machine, Name, Variables, Version } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Skill = z.looseObject({ name: Name, description: z.string().nullish(), skill_md: z.string().nullish() });

/** Deploys an agent and tells it of the envs. */
export const deployAgentStep = stepOf({
  type: "deploy_agent",
  fields: z.object({
    env_ids: z.array(Name).default([]),
    env_step_id: Name.nullish(),
    a2a_agent_id: Name.nullish(),
    a2a_agent_version: Version,
    agent_name: Name.default("default-agent"),
    agent_description: z.string().nullish(),
    role: Name.nullish(),
    system_prompt: z.string().nullish(),
    env_vars: Variables.default({}),
    skills: z.array(Skill).default([]),
    litellm_base_url: Name.nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    ...Machine,
    disk_size_gb: z.number().nullish(),
  }),
  later: ["sandbox_name", "enable_docker", "agent_snapshot_*", "agent_changelog_*", "enable_agent_changelog"],
  entityRefs: [
    { path: "env_ids[]", kind: "env" },
    { path: "a2a_agent_id", kind: "agent", versionPath: "a2a_agent_version" },
  ],
});
