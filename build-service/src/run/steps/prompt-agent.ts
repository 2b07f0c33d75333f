import { z } from "zod";
import { Name, oneOf, Seconds } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Conversation = {
  max_conversation_turns: z.int().min(1).default(1),
  user_agent_name: Name.default("human_agent"),
  user_a2a_url: Name.nullish(),
  user_agent_timeout_seconds: Seconds.default(600),
  user_output_format: z.record(z.string(), z.unknown()).nullish(),
  user_model: Name.nullish(),
};

const SetUp = {
  model: Name.nullish(),
  model_params: z.record(z.string(), z.unknown()).nullish(),
  effort: Name.nullish(),
  harness: Name.nullish(),
  max_thinking_tokens: z.int().min(0).nullish(),
  agentenv_tools: z.unknown().optional(),
};

/** One prompt to a deployed agent and its reply, or a conversation. */
export const promptAgentStep = stepOf({
  type: "prompt_agent",
  fields: z.object({
    prompt: Name.nullish(),
    parts: z.array(z.record(z.string(), z.unknown())).min(1).nullish(),
    prompt_id: Name.nullish(),
    agent_name: Name.default("default-agent"),
    timeout_seconds: Seconds.default(600),
    poll_interval_seconds: Seconds.default(2),
    context_id: Name.nullish(),
    system_prompt: z.string().nullish(),
    output_format: z.record(z.string(), z.unknown()).nullish(),
    max_turns: z.int().min(1).nullish(),
    ...SetUp,
    ...Conversation,
  }),
  later: ["snapshot_config", "live_trajectory", "trajectory_output_prefix"],
  entityRefs: [],
  check: (fields) => oneOf(fields, ["prompt", "parts"], "prompt"),
});
