import { SiteReport } from "@agent-env/protocol";
import { DIGEST } from "../bundle/lock-file.ts";
import { BUILT_IN } from "../types/registry.ts";
import { configSchema } from "./config-schema.ts";
import { fileSchema, type JsonSchema, ofZod } from "./json-schema.ts";
import { taskSchema } from "./task-schema.ts";
import { tomlSchema } from "./toml-schema.ts";

/**
 * The JSON Schema of each file that authors write, by its file name, made from what checks those files (4-bundle §4), and of the
 * report that `check-site` writes.
 */
export function jsonSchemas(): ReadonlyMap<string, JsonSchema> {
  const lock = {
    type: "object",
    additionalProperties: false,
    properties: { images: { type: "object", additionalProperties: { type: "string", pattern: DIGEST.source } } },
  };
  return new Map([
    ["env.schema.json", fileSchema("env.toml", "An env of a bundle.", tomlSchema(BUILT_IN, "env"))],
    ["agent.schema.json", fileSchema("agent.toml", "An agent of a bundle.", tomlSchema(BUILT_IN, "agent"))],
    ["artifact.schema.json", fileSchema("artifact.toml", "An artifact of a bundle.", tomlSchema(BUILT_IN, "artifact"))],
    ["eval.schema.json", fileSchema("evals/*.toml", "An eval of a bundle.", tomlSchema(BUILT_IN, "eval"))],
    ["task.schema.json", fileSchema("tasks/*.json", "A task of a bundle.", taskSchema(BUILT_IN))],
    ["config.schema.json", fileSchema(".agentenv/config.toml", "The configuration of agent-env.", configSchema())],
    ["site-report.schema.json", fileSchema("site.json", "What agent-env check-site found.", ofZod(SiteReport))],
    ["agent-env-lock.schema.json", fileSchema("agent-env.lock", "Base images by digest.", lock)],
  ]);
}
