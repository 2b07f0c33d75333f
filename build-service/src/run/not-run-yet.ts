import type { Problem } from "@agent-env/protocol";
import type { Step } from "../bundle/bundle.ts";
import { type Registry, stepType } from "../types/registry.ts";
import { retryFrom } from "./steps/every-step.ts";

/** What of a step is read, checked and stored, and can't be run yet: a run that has such a step is refused. */
export function notRunYet(step: Step, registry: Registry): Pick<Problem, "code" | "message">[] {
  const things = [...(stepType(registry, step.type)?.notRunYet(step) ?? []), ...(retryFrom(step) === null ? [] : ["retry_config"])];
  return things.map((what) => ({
    code: "deploy-step",
    message: `this version checks and stores ${what}, and doesn't run it yet: leave it out, or run other tasks with --task`,
  }));
}
