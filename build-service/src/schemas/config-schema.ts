import { ConfigFile } from "../config/keys.ts";
import { type JsonSchema, ofZod } from "./json-schema.ts";

/** `env:NAME` or `secret:KEY` in the place of a text (5-run §12.3). */
const REFERENCE = { type: "string", pattern: "^(env|secret):[^?]+" };

/** `.agentenv/config.toml`. */
export function configSchema(): JsonSchema {
  return withReferences(ofZod(ConfigFile));
}

/** A choice of texts also takes a reference; any other text takes one as it is. */
function withReferences(schema: JsonSchema): JsonSchema {
  const inner = Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inKeyword(keyword, value)]));
  if (!("enum" in schema || "const" in schema)) return inner;
  const { description, default: fallback, ...own } = inner;
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [own, REFERENCE],
  };
}

function inKeyword(keyword: string, value: unknown): unknown {
  if (keyword === "properties" && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, isSchema(inner) ? withReferences(inner) : inner]));
  }
  if (["anyOf", "allOf", "oneOf"].includes(keyword) && Array.isArray(value)) {
    return value.map((inner: unknown) => (isSchema(inner) ? withReferences(inner) : inner));
  }
  return ["items", "additionalProperties"].includes(keyword) && isSchema(value) ? withReferences(value) : value;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
