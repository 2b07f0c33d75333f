import type { Kind } from "@agent-env/protocol";
import type { z } from "zod";
import { issueText } from "../../bundle/issue-text.ts";
import type { TaskContext } from "../task-context.ts";
import { COMMON_FIELDS } from "./every-step.ts";

/** A reference that a step declares: a string field, with its version in a sibling field (4-bundle §3.2–3). */
export type StepRef = {
  /** Dotted path with `[]` for list elements: `env_id`, `artifacts[].id`. */
  readonly path: string;
  readonly kind: Kind;
  /** `output`: the step writes it, under the task's id (4-bundle §3.7). Left out: the step uses it. */
  readonly role?: "input" | "output";
  readonly versionPath?: string;
  /** Types of that kind that the field takes; left out = any. */
  readonly types?: readonly string[];
  /** `types` holds only for a step that sets this field: data for an env, say, is of other types than files for a sandbox. */
  readonly typesWith?: string;
};

type RawStep = Readonly<Record<string, unknown>>;

/** One type of step: one file, one line in the registry. Made by `stepOf`. */
export type StepType = {
  readonly type: string;
  /** Its own fields, as the JSON schema shows them. */
  readonly fields: z.ZodObject;
  /** Null: it declares none, so what it names can't be rewritten (4-bundle §3.8). */
  readonly entityRefs: readonly StepRef[] | null;
  /** Whether its failure fails the task where the step doesn't say (5-run §7). */
  readonly failsTask: boolean;
  /** What is wrong with a step as written, beyond what every step has: one line a field. No store, no Docker. */
  problems(raw: RawStep): readonly string[];
  /** Fields that the type doesn't know: a warning, not a problem. */
  unknownFields(raw: RawStep): readonly string[];
  /** Fields that are set, and that nothing reads yet: a warning too. */
  idleFields(raw: RawStep): readonly string[];
  /** What of the step is checked and stored, and can't be run yet: empty for one that can be. */
  notRunYet(raw: RawStep): readonly string[];
  /** The step as it is stored: with its defaults filled in. */
  writeOut(raw: unknown): RawStep;
  /** Does it; returns one line that says what was done. */
  run(raw: unknown, context: TaskContext): Promise<string>;
};

type Definition<Shape extends z.ZodRawShape> = {
  readonly type: string;
  readonly fields: z.ZodObject<Shape>;
  /** Left out: it declares none. */
  readonly entityRefs?: readonly StepRef[];
  /** Left out: true. */
  readonly failsTask?: boolean;
  /** Fields that tasks of the original set and that nothing here reads. */
  readonly idle?: readonly (keyof Shape & string)[];
  /** Fields of the original that would change what the step does, and that aren't supported yet; `*` stands for any end. */
  readonly later?: readonly string[];
  /** What the fields make impossible together. */
  check?(fields: z.infer<z.ZodObject<Shape>>, raw: RawStep): readonly string[];
  /** What of these fields can't be run yet, as the object of a sentence. */
  notRunYet?(fields: z.infer<z.ZodObject<Shape>>): readonly string[];
  /** Left out: a step of this type is checked and stored, and not run yet. */
  run?(fields: z.infer<z.ZodObject<Shape>>, context: TaskContext): Promise<string>;
};

/** A step type from its fields' schema, so that checking, storing and running read a step in one way. */
export function stepOf<Shape extends z.ZodRawShape>(definition: Definition<Shape>): StepType {
  const { type, fields, entityRefs = null, failsTask = true } = definition;
  // A loose object: what it doesn't name is stored and handed on too.
  const keepsAll = fields.def.catchall !== undefined && fields.def.catchall._zod.def.type !== "never";
  return {
    type,
    fields,
    entityRefs,
    failsTask,
    problems(raw) {
      const later = laterFields(definition, raw).map((key) => `${key} isn't supported yet: leave it out`);
      const read = fields.safeParse(raw);
      if (!read.success) return [...later, ...read.error.issues.map((issue) => issueText(issue, raw))];
      return [...later, ...(definition.check?.(read.data, raw) ?? [])];
    },
    unknownFields: (raw) =>
      keepsAll ? [] : Object.keys(raw).filter((key) => !(key in fields.shape) && !COMMON_FIELDS.includes(key) && !isLater(definition, key)),
    idleFields: (raw) => (definition.idle ?? []).filter((key) => isSet(raw[key])),
    notRunYet(raw) {
      if (definition.run === undefined) return [`a step of type ${type}`];
      const read = fields.safeParse(raw);
      return read.success ? (definition.notRunYet?.(read.data) ?? []) : [];
    },
    writeOut: (raw) => fields.parse(raw),
    async run(raw, context) {
      if (definition.run === undefined) throw new Error(`a step of type ${type} passed the preflight and can't be run yet`);
      return definition.run(fields.parse(raw), context);
    },
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Fields for later that are set to something: what is empty or off changes nothing. */
function laterFields(definition: Pick<Definition<z.ZodRawShape>, "fields" | "later">, raw: RawStep): string[] {
  return Object.keys(raw).filter((key) => isLater(definition, key) && isSet(raw[key]) && raw[key] !== false && !isEmpty(raw[key]));
}

function isLater({ fields, later = [] }: Pick<Definition<z.ZodRawShape>, "fields" | "later">, key: string): boolean {
  if (key in fields.shape) return false;
  return later.some((name) => (name.endsWith("*") ? key.startsWith(name.slice(0, -1)) : key === name));
}

function isEmpty(value: unknown): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}
