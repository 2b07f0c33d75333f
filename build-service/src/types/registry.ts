import type { Kind } from "@agent-env/protocol";
import { ENV_PROVIDERS, type EnvProviderCapabilities } from "../providers/capabilities.ts";
import { BUILT_IN_STEPS } from "../run/steps/built-in.ts";
import type { StepType } from "../run/steps/step.ts";
import { a2aAgent } from "./a2a-agent.ts";
import { dockerImage } from "./docker-image.ts";
import { environment } from "./environment.ts";
import { environmentUniverse } from "./environment-universe.ts";
import { evalType } from "./eval.ts";
import { file } from "./file.ts";
import { fileUniverse } from "./file-universe.ts";
import { mcpServer } from "./mcp-server.ts";
import { multi } from "./multi.ts";
import { skill } from "./skill.ts";
import type { BundleType } from "./type.ts";
import { website } from "./website.ts";

/** What is there to read, run and deploy a bundle with: a plugin adds to all of it. */
export type Registry = {
  readonly types: readonly BundleType[];
  readonly steps: readonly StepType[];
  readonly envProviders: Readonly<Record<string, EnvProviderCapabilities>>;
  /** What installed plugins were to add, and why it isn't there: messages about an unknown name say so. */
  readonly unavailable: readonly Unavailable[];
};

/** A contribution of a plugin that isn't in effect. */
export type Unavailable = {
  readonly what: `${Kind} type` | "step type" | "env provider" | "sandbox provider";
  readonly name: string;
  /** A clause that names the package: `the plugin "@acme/robots" has one, and failed to load: …`. */
  readonly why: string;
};

export const BUILT_IN: Registry = {
  types: [mcpServer, website, multi, a2aAgent, file, fileUniverse, environment, environmentUniverse, dockerImage, skill, evalType],
  steps: BUILT_IN_STEPS,
  envProviders: ENV_PROVIDERS,
  unavailable: [],
};

export function findType({ types }: Registry, kind: Kind, type: string): BundleType | undefined {
  return types.find((candidate) => candidate.kind === kind && candidate.type === type);
}

/** What the environment provider of that name can do, or undefined. */
export function findEnvProvider({ envProviders }: Registry, name: string): EnvProviderCapabilities | undefined {
  return Object.hasOwn(envProviders, name) ? envProviders[name] : undefined;
}

/** The names of a kind's types that a toml can have, sorted, for messages. */
export function typeNames({ types }: Registry, kind: Kind): string[] {
  return types
    .filter((candidate) => candidate.kind === kind && !("hasToml" in candidate && candidate.hasToml === false))
    .map(({ type }) => type)
    .sort();
}

/** The step type of that name, or undefined. */
export function stepType({ steps }: Registry, type: string): StepType | undefined {
  return steps.find((candidate) => candidate.type === type);
}

/** The names of all step types, sorted, for messages. */
export function stepTypeNames({ steps }: Registry): string[] {
  return steps.map(({ type }) => type).sort();
}

/** The end of a message about an unknown name: why a plugin that has it isn't in effect. Empty when none has it. */
export function whyUnavailable({ unavailable }: Registry, what: Unavailable["what"], name: string): string {
  return unavailable
    .filter((candidate) => candidate.what === what && candidate.name === name)
    .map(({ why }) => `; ${why}`)
    .join("");
}
