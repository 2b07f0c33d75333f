import { z } from "zod";
import { Name, Verifier } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Contains = z.looseObject({ type: z.literal("response_contains"), needles: z.array(z.string()) });
const Matches = z.looseObject({
  type: z.literal("response_regex_present"),
  pattern: z.string(),
  flags: z.array(z.string()).default(["DOTALL"]),
});

/** Looks for texts and patterns in an agent's reply. */
export const agentPromptResponseVerifierStep = stepOf({
  type: "agent_prompt_response_verifier",
  fields: z.object({ prompt_id: Name, criteria: z.array(z.discriminatedUnion("type", [Contains, Matches])).default([]), ...Verifier }),
  entityRefs: [],
});
