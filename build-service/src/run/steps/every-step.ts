import { z } from "zod";
import { issueText } from "../../bundle/issue-text.ts";
import { chosen, Name } from "./field-schemas.ts";

const RetryConfig = z.object({
  retry_from_step_id: Name.nullish(),
  /** Its older name. */
  go_to_step_id: Name.nullish(),
  max_retries: z.int().min(0).default(1),
});

/** Fields that every step has, whatever its type (5-run §7). */
export const EveryStep = z.object({
  id: Name,
  type: Name,
  version: z.unknown().optional(),
  depends_on: z.array(z.union([Name, z.object({ task_step_id: Name })])).nullish(),
  fail_task_on_error: z.boolean().nullish(),
  retry_config: RetryConfig.nullish(),
});

export const COMMON_FIELDS: readonly string[] = Object.keys(EveryStep.shape);

/** `depends_on` is judged where references are resolved. */
const Judged = EveryStep.pick({ fail_task_on_error: true, retry_config: true });

/** What is wrong with those fields of a step: one line a field. */
export function everyStepProblems(raw: Readonly<Record<string, unknown>>): string[] {
  const read = Judged.safeParse(raw);
  if (!read.success) return read.error.issues.map((issue) => issueText(issue, raw));
  const { retry_config } = read.data;
  const named = chosen(retry_config ?? {}, ["retry_from_step_id", "go_to_step_id"]);
  if (retry_config === null || retry_config === undefined || named.length > 0) return [];
  return ["retry_config names no step: set retry_from_step_id"];
}

/** The step at which a retry goes on; null for a step that isn't retried. */
export function retryFrom(raw: Readonly<Record<string, unknown>>): string | null {
  const read = RetryConfig.safeParse(raw["retry_config"]);
  return read.data?.retry_from_step_id ?? read.data?.go_to_step_id ?? null;
}
