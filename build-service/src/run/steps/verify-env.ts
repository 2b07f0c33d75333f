import { z } from "zod";
import { Name } from "./field-schemas.ts";
import { type StepType, stepOf } from "./step.ts";

/** Notes what the conformance checks find in an env's card. */
export const verifyEnvCardStep = conformanceStep("verify_env_card");

/** Notes what the conformance checks find in the data plane of an env's servers. */
export const verifyEnvCoreProtocolStep = conformanceStep("verify_env_core_protocol");

function conformanceStep(type: string): StepType {
  return stepOf({ type, fields: z.object({ env_id: Name }), entityRefs: [{ path: "env_id", kind: "env" }] });
}
