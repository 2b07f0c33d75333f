import { z } from "zod";
import { Name, oneOf, Variables, Version } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Port = z.union([z.int(), Name]);
const Command = z.union([Name, z.array(z.string())]);

/** Builds an image from a stored context and starts it on a sandbox's network. */
export const runDockerContainerStep = stepOf({
  type: "run_docker_container",
  fields: z.object({
    sandbox_name: Name,
    docker_context_artifact_id: Name.nullish(),
    docker_context_artifact_version: Version,
    docker_context_url: Name.nullish(),
    dockerfile_path: Name.default("Dockerfile"),
    container_name: Name.default("task-container"),
    image_tag: Name.nullish(),
    ports: z.union([z.array(Port), z.record(z.string(), Port)]).nullish(),
    env_vars: Variables.nullish(),
    build_args: Variables.nullish(),
    command_override: Command.nullish(),
    keep_alive_with_base_command: z.boolean().default(false),
    network: Name.nullish(),
    extra_networks: z.array(Name).nullish(),
    ready_command: Command.nullish(),
  }),
  later: ["devices", "cap_add", "privileged", "volumes", "shm_size"],
  entityRefs: [{ path: "docker_context_artifact_id", kind: "artifact", versionPath: "docker_context_artifact_version" }],
  check: (fields) => oneOf(fields, ["docker_context_artifact_id", "docker_context_url"], "build context"),
});
