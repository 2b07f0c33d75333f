import { z } from "zod";
import { chosen, Name, Seconds } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Directive = z.object({
  service: Name.nullish(),
  environment: Name.nullish(),
  uri: Name,
  args: z.record(z.string(), z.unknown()).nullish(),
});

/** Calls extensions of an env's MCP servers by name; `*` is each of them. */
export const applyServerConfigStep = stepOf({
  type: "apply_server_config",
  fields: z.object({
    env_id: Name,
    directives: z.array(Directive),
    timeout_seconds: Seconds.default(30),
    tolerate_unadvertised: z.boolean().default(false),
  }),
  entityRefs: [{ path: "env_id", kind: "env" }],
  check: ({ directives }) =>
    directives.flatMap((directive, index) =>
      chosen(directive, ["service", "environment"]).length > 0
        ? []
        : [`directives[${index}] names no server: set service, to a server's name or to "*" for all MCP servers`],
    ),
});
