import type { Problem } from "@agent-env/protocol";
import type { Plan } from "../bundle/plan.ts";
import { type PlannedEnv, plannedEnv } from "../bundle/planned-env.ts";
import { refusedOptions } from "../deploy/options.ts";
import { engineProblem } from "../images/engine.ts";
import { gatewayEnvProblem } from "../infra/gateway-image.ts";
import { SANDBOXES, type SandboxName } from "../providers/capabilities.ts";
import { isSandboxName, sandboxProvider } from "../providers/sandbox/registry.ts";
import type { Store } from "../store/store.ts";
import { type Registry, whyUnavailable } from "../types/registry.ts";
import { type ChosenSandbox, sandboxOf } from "./choose-sandbox.ts";
import { notRunYet } from "./not-run-yet.ts";
import type { PlannedStep, PlannedTask } from "./task-run.ts";
import { verifierProblem } from "./verifiers/language.ts";

const SHORTEST_TTL_S = 60;

export type PreflightRequest = {
  readonly plan: Plan;
  readonly store: Store;
  readonly sandbox: ChosenSandbox;
  readonly gateway: "container" | "edge";
  /** `[envs] default_gateway_env_id`. */
  readonly gatewayEnvId: string;
  /** `[verifiers] python`. */
  readonly python: string;
};

type Finding = Pick<Problem, "code" | "message">;
type Found = Finding & { readonly task: string; readonly step: string; readonly what: "deploy" | "step" };

/**
 * Checks every deploy and verifier of the selected tasks against the provider that it will use, before the first write
 * (5-run §3). Builds, pulls and starts nothing.
 */
export async function preflight(request: PreflightRequest): Promise<Problem[]> {
  const found: Found[] = [];
  for (const task of request.plan.tasks) {
    const deployedEnvs = new Map<string, string>();
    for (const step of task.steps) {
      const findings = [...notRunYet(step, request.plan.inner.registry), ...(await stepFindings(step, deployedEnvs, request))];
      const what = step.type.startsWith("deploy_") ? "deploy" : "step";
      found.push(...findings.map((finding) => ({ ...finding, task: task.path, step: step.id, what }) as const));
      if (step.type === "deploy_env") deployedEnvs.set(String(step["env_id"]), step.id);
    }
  }
  return [...(await engineFindings(request)), ...grouped(found)];
}

async function stepFindings(step: PlannedStep, deployedEnvs: ReadonlyMap<string, string>, request: PreflightRequest): Promise<Finding[]> {
  switch (step.type) {
    case "deploy_env":
      return deployFindings(step, deployedEnvs, request);
    case "load_artifact":
      return typeof step["env_id"] === "string" ? targetFindings(step, deployedEnvs) : [];
    case "env_outcome_verifier":
      return [...targetFindings(step, deployedEnvs), ...verifierFindings(step, request)];
    default:
      return [];
  }
}

async function deployFindings(step: PlannedStep, deployedEnvs: ReadonlyMap<string, string>, request: PreflightRequest): Promise<Finding[]> {
  const envId = String(step["env_id"]);
  const sandbox = sandboxOf(step["sandbox_type"], request.sandbox);
  const earlier = deployedEnvs.get(envId);
  const twice: Finding[] =
    earlier === undefined ? [] : [{ code: "deploy-twice", message: `${envId} is deployed by step ${JSON.stringify(earlier)} already` }];
  if (!isSandboxName(sandbox)) {
    const known = Object.keys(SANDBOXES).join(", ");
    const why = whyUnavailable(request.plan.inner.registry, "sandbox provider", sandbox);
    return [
      ...twice,
      { code: "deploy-provider", message: `sandbox_type ${JSON.stringify(sandbox)} is not known; those there are: ${known}${why}` },
    ];
  }
  const pinned = step["env_version"];
  const env = await plannedEnv(request.plan, request.store, envId, typeof pinned === "number" ? pinned : null);
  return [
    ...twice,
    ...optionFindings(step, sandbox, env, request.plan.inner.registry),
    ...(await dockerfileFindings(sandbox, env, request)),
    ...(await infraFindings(sandbox, env, request)),
  ];
}

function optionFindings(step: PlannedStep, sandbox: SandboxName, env: PlannedEnv, registry: Registry): Finding[] {
  const findings: Finding[] = [];
  const longest = SANDBOXES[sandbox].longestTtlSeconds;
  const ttl = step["ttl_seconds"];
  if (typeof ttl === "number" && (ttl < SHORTEST_TTL_S || ttl > longest)) {
    findings.push({ code: "deploy-option", message: `ttl_seconds is ${ttl}; it may be ${SHORTEST_TTL_S} to ${longest} on ${sandbox}` });
  }
  for (const option of ["cpu", "memory_mb", "disk_size_gb"]) {
    const value = step[option];
    if (typeof value === "number" && value <= 0)
      findings.push({ code: "deploy-option", message: `${option} is ${value}; it has to be more than 0` });
  }
  const mode = step["gateway_mode"] ?? "performance";
  if (mode !== "performance" && mode !== "consistent") {
    findings.push({ code: "deploy-option", message: `gateway_mode is ${JSON.stringify(mode)}; it may be performance or consistent` });
  }
  const set = {
    cpu: numberOf(step["cpu"]),
    memoryMb: numberOf(step["memory_mb"]),
    gatewayMode: mode === "consistent" ? mode : "performance",
  } as const;
  const provider = registry.envProviders[env.provider];
  if (provider !== undefined) findings.push(...refusedOptions(set, SANDBOXES[sandbox], provider));
  if (typeof step["artifact_id"] === "string") {
    findings.push({
      code: "deploy-env-provider",
      message: `artifact_id is for env types of plugins, and ${env.type} takes none: use a load_artifact step`,
    });
  }
  return findings;
}

const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/**
 * A Dockerfile that the provider can't honour, each line with its reason. A provider that runs from source is asked about every
 * image, one that builds only about those that this run would build.
 */
async function dockerfileFindings(sandbox: SandboxName, env: PlannedEnv, { plan }: PreflightRequest): Promise<Finding[]> {
  const fromSource = SANDBOXES[sandbox].image === "source";
  const planned = new Set(plan.writes.filter(({ source }) => source !== undefined).map(({ id }) => id));
  const provider = sandboxProvider(sandbox);
  const findings = env.servers
    .flatMap((server) => server.images)
    .filter(({ imageId }) => fromSource || planned.has(imageId))
    .map(async ({ entry, source }): Promise<Finding[]> => {
      if (source === null)
        return [{ code: "deploy-image", message: `${entry}: ${sandbox} runs images from their source, and the store has lost this one's` }];
      const reasons = await provider.imageProblems(source);
      return reasons.map((reason) => ({ code: "deploy-dockerfile", message: `${entry}: ${reason}` }));
    });
  return (await Promise.all(findings)).flat();
}

/** The gateway's env, where one is built and started for the deployment. */
async function infraFindings(
  sandbox: SandboxName,
  env: PlannedEnv,
  { gateway, gatewayEnvId, store }: PreflightRequest,
): Promise<Finding[]> {
  if (gateway !== "container" || env.provider !== "gateway" || SANDBOXES[sandbox].image !== "build") return [];
  const problem = await gatewayEnvProblem({ store, gatewayEnvId });
  return problem === null ? [] : [{ code: "deploy-infra", message: problem }];
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

/** One problem for the whole run when `local` is used and no Engine answers; names up to three deploys. */
async function engineFindings(request: PreflightRequest): Promise<Problem[]> {
  const places = request.plan.tasks.flatMap((task: PlannedTask) =>
    task.steps
      .filter((step) => step.type === "deploy_env" && sandboxOf(step["sandbox_type"], request.sandbox) === "local")
      .map((step) => `${task.path}: step '${step.id}'`),
  );
  const [first, ...others] = places;
  if (first === undefined) return [];
  const problem = await engineProblem();
  if (problem === null) return [];
  const named = [first, ...others.slice(0, 2)].join(", ");
  const more = others.length > 2 ? ` and ${others.length - 2} more` : "";
  return [{ code: "deploy-engine", path: `${named}${more}`, message: `no Docker Engine answers: ${problem.why}; ${problem.next}` }];
}

/** A finding at several deploys, or at several other steps, is reported once, with the count (B11.4). */
function grouped(found: readonly Found[]): Problem[] {
  const byFinding = Map.groupBy(found, ({ what, code, message }) => `${what} ${code} ${message}`);
  return [...byFinding.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const more = others.length === 0 ? "" : ` (and ${others.length} more ${first.what}${others.length === 1 ? "" : "s"})`;
    return [{ code: first.code, path: `${first.task}: step '${first.step}'${more}`, message: first.message }];
  });
}
