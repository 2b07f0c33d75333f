import { A2aAgentRecord } from "@agent-env/protocol";
import { z } from "zod";
import { issueText } from "../bundle/issue-text.ts";
import { unknownKeys } from "../bundle/unknown-names.ts";
import { pinnedRef, Ref, typedRef } from "./refs.ts";
import type { AgentType } from "./type.ts";

const Metadata = z.strictObject({
  default_model: z.string().optional(),
  min_disk_size_gb: z.number().optional(),
  takes_credentials: z.boolean().optional(),
});
const Values = { default_env_vars: z.record(z.string(), z.string()), metadata: Metadata };
const Fields = z.object({ image: Ref, ...Values });

/** An agent that speaks A2A, over one image, which serves its card. */
export const a2aAgent: AgentType = {
  kind: "agent",
  type: "a2a_agent",
  tomlKeys: { image: "ref", default_env_vars: "table", metadata: "table" },
  tomlRefs: [{ path: "image", kind: "artifact", types: ["docker_image"] }],
  tomlValues: Values,
  accept(_config, context) {
    const fields = { default_env_vars: {}, metadata: {}, ...context.accepted() };
    const read = z.object(Values).safeParse(fields);
    for (const issue of read.error?.issues ?? []) {
      const message =
        issue.code === "unrecognized_keys"
          ? `metadata: ${unknownKeys(issue.keys, "it", Object.keys(Metadata.shape))}`
          : issueText(issue, fields);
      context.problem("agent-value", message);
    }
    return fields;
  },
  writes: "record",
  async write(fields, load) {
    const { image, default_env_vars, metadata } = Fields.parse(fields);
    return { docker_image_artifact: typedRef(await load.artifact(image)), default_env_vars, metadata };
  },
  read(record) {
    const { docker_image_artifact, default_env_vars, metadata } = A2aAgentRecord.parse(record);
    const { default_model, min_disk_size_gb, takes_credentials } = metadata;
    return {
      image: pinnedRef("artifact", docker_image_artifact),
      default_env_vars,
      // What `a2a-agent put` adds is no key of the toml.
      metadata: {
        ...(default_model === undefined ? {} : { default_model }),
        ...(min_disk_size_gb === undefined ? {} : { min_disk_size_gb }),
        ...(takes_credentials === undefined ? {} : { takes_credentials }),
      },
    };
  },
};
