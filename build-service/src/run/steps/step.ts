import type { Kind, Problem } from "@agent-env/protocol";
import type { z } from "zod";
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

export type StepFields = Readonly<Record<string, unknown>>;

/** One type of step: one file, one line in the registry (`registry.ts`). */
export type StepType<Fields = unknown> = {
  readonly type: string;
  /** Its own fields, without those that every step has. Unknown fields are a warning, not a problem. */
  readonly schema: z.ZodType<Fields>;
  readonly entityRefs: readonly StepRef[];
  /** What its own fields alone make impossible, beyond the schema. No store, no Docker. */
  check?(fields: Fields): readonly Pick<Problem, "code" | "message">[];
  run(fields: Fields, context: TaskContext): Promise<string>;
};
