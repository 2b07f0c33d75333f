import { Validator } from "@cfworker/json-schema";
import { parseJson } from "../../../build-service/src/bundle/json.ts";
import { parseToml } from "../../../build-service/src/bundle/toml.ts";
import { jsonSchemas } from "../../../build-service/src/schemas/schemas.ts";

const FILES: readonly (readonly [RegExp, string])[] = [
  [/^envs\/[^/]+\/env\.toml$/, "env.schema.json"],
  [/^agents\/[^/]+\/agent\.toml$/, "agent.schema.json"],
  [/^artifacts\/[^/]+\/artifact\.toml$/, "artifact.schema.json"],
  [/^evals\/[^/]+\.toml$/, "eval.schema.json"],
  [/^tasks\/[^/]+\.json$/, "task.schema.json"],
  [/^\.agentenv\/config\.toml$/, "config.schema.json"],
  [/^agent-env\.lock$/, "agent-env-lock.schema.json"],
];

const validators = new Map([...jsonSchemas()].map(([name, schema]) => [name, new Validator(schema, "7", false)]));

/** The schema of a file of a bundle; undefined where it has none. */
export function schemaOf(path: string): string | undefined {
  return FILES.find(([pattern]) => pattern.test(path))?.[1];
}

/** What its schema says against a file, as an editor would show it: empty for one that is right. */
export function schemaErrors(path: string, text: string): readonly string[] {
  const name = schemaOf(path);
  const validator = name === undefined ? undefined : validators.get(name);
  if (validator === undefined) throw new Error(`${path} has no schema`);
  const value = path.endsWith(".json") ? parseJson(text) : JSON.parse(JSON.stringify(parseToml(text), plainly));
  return validator.validate(value).errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

/** TOML's whole numbers are big ones, which JSON doesn't know. */
function plainly(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
