import type { Problem } from "@agent-env/protocol";
import { notRunYet } from "./not-run-yet.ts";
import { askedOnce, type DeployCheck, deployFindings, type Finding, type WhyNot } from "./preflight-deploy.ts";
import type { PlannedStep } from "./task-run.ts";
import { verifierProblem } from "./verifiers/language.ts";

export type PreflightRequest = DeployCheck & {
  /** `[verifiers] python`. */
  readonly python: string;
};

type Found = Finding & { readonly task: string; readonly step: string; readonly what: "deploy" | "step" };

/**
 * Checks every deploy and verifier of the selected tasks against the provider that it will use, before the first write
 * (5-run §3). Builds, pulls and starts nothing.
 */
export async function preflight(request: PreflightRequest): Promise<Problem[]> {
  const found: Found[] = [];
  const whyNot = askedOnce();
  for (const task of request.plan.tasks) {
    const deployedEnvs = new Map<string, string>();
    for (const step of task.steps) {
      const findings = [...notRunYet(step, request.plan.inner.registry), ...(await stepFindings(step, deployedEnvs, { request, whyNot }))];
      const what = step.type.startsWith("deploy_") ? "deploy" : "step";
      found.push(...findings.map((finding) => ({ ...finding, task: task.path, step: step.id, what }) as const));
      if (step.type === "deploy_env") deployedEnvs.set(String(step["env_id"]), step.id);
    }
  }
  return grouped(found);
}

async function stepFindings(
  step: PlannedStep,
  deployedEnvs: ReadonlyMap<string, string>,
  { request, whyNot }: { readonly request: PreflightRequest; readonly whyNot: WhyNot },
): Promise<Finding[]> {
  switch (step.type) {
    case "deploy_env":
      return [...twiceFindings(step, deployedEnvs), ...(await deployFindings(step, request, whyNot))];
    case "load_artifact":
      return typeof step["env_id"] === "string" ? targetFindings(step, deployedEnvs) : [];
    case "env_outcome_verifier":
      return [...targetFindings(step, deployedEnvs), ...verifierFindings(step, request)];
    default:
      return [];
  }
}

/** An env is deployed by one step of a task. */
function twiceFindings(step: PlannedStep, deployedEnvs: ReadonlyMap<string, string>): Finding[] {
  const envId = String(step["env_id"]);
  const earlier = deployedEnvs.get(envId);
  if (earlier === undefined) return [];
  return [{ code: "deploy-twice", message: `${envId} is deployed by step ${JSON.stringify(earlier)} already` }];
}

function targetFindings(step: PlannedStep, deployedEnvs: ReadonlyMap<string, string>): Finding[] {
  const envId = String(step["env_id"]);
  if (deployedEnvs.has(envId)) return [];
  const by = [...deployedEnvs.keys()];
  const known = by.length === 0 ? "no step before it deploys an env" : `deployed by then: ${by.join(", ")}`;
  return [{ code: "deploy-target", message: `env_id: ${envId} isn't deployed by a step before it; ${known}` }];
}

function verifierFindings(step: PlannedStep, { plan, python }: PreflightRequest): Finding[] {
  const filename = plan.filenameOf(String(step["file_artifact_id"]));
  const problem = filename === null ? null : verifierProblem(filename, python);
  return problem === null ? [] : [{ code: "deploy-verifier", message: problem }];
}

/** A finding at several deploys, or at several other steps, is reported once, with the count (B11.4). */
function grouped(found: readonly Found[]): Problem[] {
  const byFinding = Map.groupBy(found, ({ what, code, message }) => `${what} ${code} ${message}`);
  return [...byFinding.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { code, message, what } = first;
    const path = code === "deploy-engine" ? someOf([first, ...others]) : `${placeOf(first)}${moreOf(what, others.length)}`;
    return [{ code, path, message }];
  });
}

const placeOf = ({ task, step }: Found): string => `${task}: step '${step}'`;

function moreOf(what: Found["what"], count: number): string {
  return count === 0 ? "" : ` (and ${count} more ${what}${count === 1 ? "" : "s"})`;
}

/** Up to three of the deploys that no Engine answers: it is one problem of the whole run. */
function someOf(found: readonly Found[]): string {
  const more = found.length > 3 ? ` and ${found.length - 3} more` : "";
  return `${found.slice(0, 3).map(placeOf).join(", ")}${more}`;
}
