import { z } from "zod";
import { Name, Verifier } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Criterion = z.looseObject({
  id: Name,
  weight: z.number().nullish(),
  negative: z.boolean().nullish(),
  outcomes: z.unknown().optional(),
});

/** Has a model judge an agent's reply by criteria. */
export const rubricsVerifierStep = stepOf({
  type: "rubrics_verifier",
  fields: z.object({
    prompt_id: Name,
    criteria: z.array(Criterion),
    default_model: Name.nullish(),
    default_model_api_base: Name.nullish(),
    output_format: z.enum(["rubric_binary", "rubric_partial"]).default("rubric_binary"),
    grading_policy_prompt: z.string().nullish(),
    context_facts_for_judge: z.unknown().optional(),
    use_trajectory: z.boolean().default(true),
    judge_batch_size: z.int().min(1).nullish(),
    judge_batch_concurrency: z.int().min(1).nullish(),
    ...Verifier,
  }),
  later: ["use_agent_judge", "agent_name", "judge_*", "trajectory_filter", "grade_up_to_turn", "run_context_for_judge"],
  entityRefs: [],
});
