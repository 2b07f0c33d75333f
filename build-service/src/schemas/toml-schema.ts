import type { Kind } from "@agent-env/protocol";
import { imageKeys } from "../types/image-keys.ts";
import type { Registry } from "../types/registry.ts";
import type { BundleType, KeyKind, TomlRef } from "../types/type.ts";
import { type JsonSchema, ofZod, withHelp } from "./json-schema.ts";
import { TOML_HELP } from "./toml-help.ts";

/** Types that a folder has without saying so (4-bundle §1). */
const LEFT_OUT = new Set(["mcp_server", "a2a_agent", "file", "file_artifact_universe", "docker_image", "eval"]);

/** A kind's toml: what each of its types takes, and whatever a plugin's type takes. */
export function tomlSchema({ types }: Pick<Registry, "types">, kind: Kind): JsonSchema {
  const own = types.filter((type) => type.kind === kind && !("hasToml" in type && type.hasToml === false));
  const known = own.map(({ type }) => type);
  const ofPlugin = {
    title: "a plugin's type",
    type: "object",
    required: ["type"],
    properties: { type: { type: "string", pattern: "\\S", not: { enum: known } } },
  };
  return { type: "object", anyOf: [...own.map(typeSchema), ofPlugin] };
}

function typeSchema(type: BundleType): JsonSchema {
  const keys = Object.entries(type.tomlKeys).map(([key, kind]) => [key, withHelp(keySchema(type, key, kind), helpOf(type, key))]);
  const properties = {
    ...Object.fromEntries(keys),
    type: { description: TOML_HELP["type"], const: type.type },
    id: { description: TOML_HELP["id"], type: "string", pattern: "^@local/" },
  };
  const required = [...(LEFT_OUT.has(type.type) ? [] : ["type"]), ...(type.kind === "eval" ? ["tasks"] : [])];
  return { title: type.type, type: "object", additionalProperties: false, required, properties };
}

/** The help for a key: of that type, else of its kind. */
export function helpOf({ kind, type }: Pick<BundleType, "kind" | "type">, key: string): string | undefined {
  return TOML_HELP[`${type}.${key}`] ?? TOML_HELP[`${kind}.${key}`];
}

function keySchema(type: BundleType, key: string, kind: KeyKind): JsonSchema {
  const value = type.tomlValues?.[key];
  if (value !== undefined) return ofZod(value);
  const ref = type.tomlRefs.find(({ path }) => path === key);
  if (ref !== undefined) return imageKeys(type).includes(key) ? imageSchema(ref) : refSchema(ref);
  const inList = type.tomlRefs.find(({ path }) => path === `${key}[]`);
  if (inList !== undefined) return { type: "array", items: refSchema(inList), ...(type.kind === "eval" ? { minItems: 1 } : {}) };
  return { type: JSON_TYPE[kind] };
}

const JSON_TYPE: Readonly<Record<Exclude<KeyKind, never>, string | readonly string[]>> = {
  string: "string",
  number: "number",
  boolean: "boolean",
  list: "array",
  table: "object",
  ref: ["string", "object"],
};

/** A reference (4-bundle §3.1). */
function refSchema({ kind }: Pick<TomlRef, "kind">): JsonSchema {
  return {
    anyOf: [
      { type: "string", minLength: 1 },
      table({ [kind]: { type: "string", minLength: 1 } }, { version: { type: "integer", minimum: 1 } }),
    ],
  };
}

/** An image value (4-bundle §4.2). */
function imageSchema(ref: TomlRef): JsonSchema {
  return { anyOf: [table({ dockerfile: { type: "string", minLength: 1 } }, {}), ...alternatives(refSchema(ref))] };
}

function alternatives({ anyOf }: JsonSchema): readonly unknown[] {
  return Array.isArray(anyOf) ? anyOf : [];
}

function table(required: JsonSchema, optional: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: false, required: Object.keys(required), properties: { ...required, ...optional } };
}
