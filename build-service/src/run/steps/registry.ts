import { deployEnvStep } from "./deploy-env.ts";
import { envOutcomeVerifierStep } from "./env-outcome-verifier.ts";
import { loadArtifactStep } from "./load-artifact.ts";
import type { StepType } from "./step.ts";

const STEP_TYPES: readonly StepType[] = [deployEnvStep, loadArtifactStep, envOutcomeVerifierStep];

/** The step type of that name, or undefined. */
export function stepType(type: string): StepType | undefined {
  return STEP_TYPES.find((candidate) => candidate.type === type);
}

/** The names of all step types, sorted, for messages. */
export function stepTypeNames(): string[] {
  return STEP_TYPES.map(({ type }) => type).sort();
}
