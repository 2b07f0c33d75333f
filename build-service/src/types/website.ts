import { WebsiteRecord } from "@agent-env/protocol";
import { z } from "zod";
import { EnvironmentName } from "./environment-name.ts";
import { pinnedRef, Ref, typedRef } from "./refs.ts";
import type { EnvType } from "./type.ts";

const Fields = z.object({ backend_image: Ref, frontend_image: Ref, environment_name: z.string(), env_provider_type: z.string() });

/** A site: a backend with the data plane, and a front end with the pages. Its card is in the backend's source. */
export const website: EnvType = {
  kind: "env",
  type: "website",
  tomlKeys: { backend_image: "ref", frontend_image: "ref", environment_name: "string", env_provider_type: "string" },
  tomlRefs: [
    { path: "backend_image", kind: "artifact", types: ["docker_image"] },
    { path: "frontend_image", kind: "artifact", types: ["docker_image"] },
  ],
  tomlValues: { environment_name: EnvironmentName },
  topology: { server: "website" },
  accept: (_config, context) => context.acceptedEnv({ namedBy: "backend_image" }),
  writes: "record",
  async write(fields, load) {
    const { backend_image, frontend_image, environment_name, env_provider_type } = Fields.parse(fields);
    return {
      metadata: {},
      environment_name,
      service_name: environment_name,
      env_provider_type,
      backend_docker_image_artifact: typedRef(await load.artifact(backend_image)),
      frontend_docker_image_artifact: typedRef(await load.artifact(frontend_image)),
    };
  },
  read(record) {
    const { backend_docker_image_artifact, frontend_docker_image_artifact, ...rest } = WebsiteRecord.parse(record);
    return {
      backend_image: pinnedRef("artifact", backend_docker_image_artifact),
      frontend_image: pinnedRef("artifact", frontend_docker_image_artifact),
      environment_name: rest.environment_name,
      env_provider_type: rest.env_provider_type,
    };
  },
};
