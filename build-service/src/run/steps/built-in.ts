import { agentPromptResponseVerifierStep } from "./agent-prompt-response-verifier.ts";
import { aggregateVerifiersStep } from "./aggregate-verifiers.ts";
import { applyServerConfigStep } from "./apply-server-config.ts";
import { deployAgentStep } from "./deploy-agent.ts";
import { deployEnvStep } from "./deploy-env.ts";
import { deploySandboxStep } from "./deploy-sandbox.ts";
import { envOutcomeVerifierStep } from "./env-outcome-verifier.ts";
import { loadArtifactStep } from "./load-artifact.ts";
import { modifyEnvToolAccessStep } from "./modify-env-tool-access.ts";
import { peerAgentsStep } from "./peer-agents.ts";
import { promptAgentStep } from "./prompt-agent.ts";
import { registerEnvTriggersStep } from "./register-env-triggers.ts";
import { resetEnvStep } from "./reset-env.ts";
import { rubricsVerifierStep } from "./rubrics-verifier.ts";
import { runCodeStep } from "./run-code.ts";
import { runContainerUnitTestsVerifierStep } from "./run-container-unit-tests-verifier.ts";
import { runDockerContainerStep } from "./run-docker-container.ts";
import type { StepType } from "./step.ts";
import { syncEnvClockStep } from "./sync-env-clock.ts";
import { teardownSandboxesStep } from "./teardown-sandboxes.ts";
import { verifyEnvCardStep, verifyEnvCoreProtocolStep } from "./verify-env.ts";
import { verifySandboxStep } from "./verify-sandbox.ts";

/** The steps that tasks can have without a plugin, in the order of 5-run §8. */
export const BUILT_IN_STEPS: readonly StepType[] = [
  deployEnvStep,
  loadArtifactStep,
  modifyEnvToolAccessStep,
  syncEnvClockStep,
  registerEnvTriggersStep,
  applyServerConfigStep,
  resetEnvStep,
  verifyEnvCardStep,
  verifyEnvCoreProtocolStep,
  deploySandboxStep,
  runDockerContainerStep,
  runCodeStep,
  teardownSandboxesStep,
  deployAgentStep,
  promptAgentStep,
  peerAgentsStep,
  envOutcomeVerifierStep,
  verifySandboxStep,
  agentPromptResponseVerifierStep,
  rubricsVerifierStep,
  runContainerUnitTestsVerifierStep,
  aggregateVerifiersStep,
];
