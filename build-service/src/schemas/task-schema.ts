import { EveryStep } from "../run/steps/every-step.ts";
import type { StepType } from "../run/steps/step.ts";
import type { Registry } from "../types/registry.ts";
import { type JsonSchema, ofZod, withHelp } from "./json-schema.ts";
import { EVERY_STEP_HELP, FIELD_HELP, STEP_HELP } from "./step-help.ts";

/** A task: a list of steps, each as its type takes it, and whatever a plugin's step takes (4-bundle §4.6). */
export function taskSchema({ steps }: Pick<Registry, "steps">): JsonSchema {
  const ofPlugin = {
    title: "a plugin's step",
    type: "object",
    required: ["id", "type"],
    properties: { ...common(), type: { type: "string", minLength: 1, not: { enum: steps.map(({ type }) => type) } } },
  };
  return { type: "array", items: { anyOf: [...steps.map(stepSchema), ofPlugin] } };
}

/** Fields that a type doesn't have are only warned about, so that they are no mistake here either. */
function stepSchema({ type, fields }: StepType): JsonSchema {
  const { properties, required, ...schema } = ofZod(fields);
  return {
    ...schema,
    title: type,
    description: STEP_HELP[type],
    required: ["id", "type", ...names(required)],
    properties: { ...common(), type: { const: type }, ...helped(properties, FIELD_HELP) },
  };
}

function common(): JsonSchema {
  return helped(ofZod(EveryStep)["properties"], EVERY_STEP_HELP);
}

function helped(properties: unknown, help: Readonly<Record<string, string>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, schema]: [string, JsonSchema]) => [name, withHelp(schema, help[name])]),
  );
}

function names(required: unknown): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}
