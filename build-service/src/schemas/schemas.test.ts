import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUILT_IN } from "../types/registry.ts";
import { SHIPPED_SCHEMAS, schemaText } from "./schema-files.ts";
import { jsonSchemas } from "./schemas.ts";
import { FIELD_HELP, STEP_HELP } from "./step-help.ts";
import { TOML_HELP } from "./toml-help.ts";
import { helpOf } from "./toml-schema.ts";

test("B4 the shipped schemas are those that the checks make: `npm run schemas` writes them", () => {
  const shipped = readdirSync(SHIPPED_SCHEMAS).map((name) => [name, readFileSync(join(SHIPPED_SCHEMAS, name), "utf8")]);
  expect(Object.fromEntries(shipped)).toEqual(Object.fromEntries([...jsonSchemas()].map(([name, schema]) => [name, schemaText(schema)])));
});

test("each key of a toml and each step type has a text that editors show, and no text is for nothing", () => {
  const keys = BUILT_IN.types.flatMap((type) => Object.keys(type.tomlKeys).map((key) => ({ type, key })));
  expect(keys.filter(({ type, key }) => helpOf(type, key) === undefined)).toEqual([]);
  const used = keys.flatMap(({ type, key }) => [`${type.type}.${key}`, `${type.kind}.${key}`]);
  expect(Object.keys(TOML_HELP).filter((name) => !["type", "id", ...used].includes(name))).toEqual([]);

  const steps = BUILT_IN.steps.map(({ type }) => type);
  expect(Object.keys(STEP_HELP).sort()).toEqual(steps.sort());
  const fields = BUILT_IN.steps.flatMap((step) => Object.keys(step.fields.shape));
  expect(Object.keys(FIELD_HELP).filter((name) => !fields.includes(name))).toEqual([]);
});
