import { McpServerRecord } from "@agent-env/protocol";
import { z } from "zod";
import { EnvironmentName } from "./environment-name.ts";
import { pinnedRef, Ref, typedRef } from "./refs.ts";
import type { EnvType } from "./type.ts";

const Fields = z.object({ image: Ref, environment_name: z.string(), env_provider_type: z.string() });

/** One MCP server over one image. */
export const mcpServer: EnvType = {
  kind: "env",
  type: "mcp_server",
  tomlKeys: { image: "ref", environment_name: "string", env_provider_type: "string" },
  tomlRefs: [{ path: "image", kind: "artifact", types: ["docker_image"] }],
  tomlValues: { environment_name: EnvironmentName },
  topology: { server: "mcp" },
  accept: (_config, context) => context.acceptedEnv({ namedBy: "image" }),
  writes: "record",
  async write(fields, load) {
    const { image, environment_name, env_provider_type } = Fields.parse(fields);
    return {
      metadata: {},
      environment_name,
      service_name: environment_name,
      env_provider_type,
      docker_image_artifact: typedRef(await load.artifact(image)),
    };
  },
  read(record) {
    const { docker_image_artifact, environment_name, env_provider_type } = McpServerRecord.parse(record);
    return { image: pinnedRef("artifact", docker_image_artifact), environment_name, env_provider_type };
  },
};
