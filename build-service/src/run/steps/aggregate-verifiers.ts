import { z } from "zod";
import { Aggregator, Name } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

/** One score over the rows of several verifiers. */
export const aggregateVerifiersStep = stepOf({
  type: "aggregate_verifiers",
  fields: z.object({
    verifier_ids: z.array(Name).min(1),
    verifier_id: Name.nullish(),
    score_aggregator: Aggregator.default("weighted_average"),
  }),
  entityRefs: [],
});
