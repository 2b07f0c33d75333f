import type { Kind } from "@agent-env/protocol";
import type { z } from "zod";
import { issueText } from "../../bundle/issue-text.ts";
import type { TaskContext } from "../task-context.ts";

/** A reference that a step declares: a string field, with its version in a sibling field (4-bundle §3.2). */
export type StepRef = {
  /** Dotted path with `[]` for list elements: `env_id`, `artifacts[].id`. */
  readonly path: string;
  readonly kind: Kind;
  readonly versionPath?: string;
  /** Types of that kind that the field takes; left out = any. */
  readonly types?: readonly string[];
};

/** One type of step: one file, one line in the registry (`registry.ts`). Made by `stepOf`. */
export type StepType = {
  readonly type: string;
  readonly entityRefs: readonly StepRef[];
  /** What is wrong with a step as written, beyond what every step has: one line a field. No store, no Docker. */
  problems(raw: unknown): readonly string[];
  /** Fields that the type doesn't know: a warning, not a problem. */
  unknownFields(raw: Readonly<Record<string, unknown>>): readonly string[];
  /** Fields that are set, and that nothing reads yet: a warning too. */
  idleFields(raw: Readonly<Record<string, unknown>>): readonly string[];
  /** The step as it is stored: with its defaults filled in. */
  writeOut(raw: unknown): Readonly<Record<string, unknown>>;
  run(raw: unknown, context: TaskContext): Promise<string>;
};

/** Fields that every step has, whatever its type (5-run §7). */
export const COMMON_FIELDS = ["id", "type", "version", "depends_on", "fail_task_on_error", "retry_config"];

/** A step type from its fields' schema, so that checking, storing and running read a step in one way. */
export function stepOf<Shape extends z.ZodRawShape>(definition: {
  readonly type: string;
  readonly fields: z.ZodObject<Shape>;
  readonly entityRefs: readonly StepRef[];
  /** Fields that tasks of the original set and that nothing here reads. */
  readonly idle?: readonly (keyof Shape & string)[];
  /** What the fields make impossible together. */
  check?(fields: z.infer<z.ZodObject<Shape>>): readonly string[];
  /** Does it; returns one line that says what was done. */
  run(fields: z.infer<z.ZodObject<Shape>>, context: TaskContext): Promise<string>;
}): StepType {
  const { type, fields, entityRefs } = definition;
  return {
    type,
    entityRefs,
    problems(raw) {
      const read = fields.safeParse(raw);
      if (!read.success) return read.error.issues.map((issue) => issueText(issue, raw));
      return definition.check?.(read.data) ?? [];
    },
    unknownFields: (raw) => Object.keys(raw).filter((key) => !(key in fields.shape) && !COMMON_FIELDS.includes(key)),
    idleFields: (raw) => (definition.idle ?? []).filter((key) => raw[key] !== undefined && raw[key] !== null),
    writeOut: (raw) => fields.parse(raw),
    run: (raw, context) => definition.run(fields.parse(raw), context),
  };
}
