import { deployEnvStep } from "./deploy-env.ts";
import { envOutcomeVerifierStep } from "./env-outcome-verifier.ts";
import { loadArtifactStep } from "./load-artifact.ts";
import type { StepType } from "./step.ts";

/** The steps that tasks can have without a plugin. */
export const BUILT_IN_STEPS: readonly StepType[] = [deployEnvStep, loadArtifactStep, envOutcomeVerifierStep];
