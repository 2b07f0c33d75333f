import type { Problem } from "@agent-env/protocol";
import type { Plan } from "../bundle/plan.ts";
import { type PlannedEnv, plannedEnv } from "../bundle/planned-env.ts";
import { refusedOptions, refusedPlace } from "../deploy/options.ts";
import { engineProblem } from "../images/engine.ts";
import { machinePlatform } from "../images/platform.ts";
import { gatewayEnvProblem } from "../infra/gateway-image.ts";
import type { Installed } from "../plugins/installed.ts";
import { envProvider } from "../providers/env/registry.ts";
import type { Sandbox } from "../providers/sandbox/sandboxes.ts";
import type { Store } from "../store/store.ts";
import { findEnvProvider } from "../types/registry.ts";
import { type Chain, type ChosenSandbox, sandboxOf } from "./choose-sandbox.ts";
import type { PlannedStep } from "./task-run.ts";

export type DeployCheck = {
  readonly plan: Plan;
  readonly store: Store;
  readonly plugins: Installed;
  readonly sandbox: ChosenSandbox;
  readonly gateway: "container" | "edge";
  readonly auth: "open" | "token";
  /** `[envs] default_gateway_env_id`. */
  readonly gatewayEnvId: string;
};

export type Finding = Pick<Problem, "code" | "message">;

/** Why a sandbox can't be used on this machine. Asked once each, however many deploys use it. */
export type WhyNot = (sandbox: Sandbox) => Promise<Finding | null>;

/** What keeps an env of the plan from being deployed by a step (5-run §3). A chain is refused only when each of its links is. */
export async function deployFindings(step: PlannedStep, check: DeployCheck, whyNot: WhyNot): Promise<Finding[]> {
  const { plugins, plan, store } = check;
  const chain = await sandboxOf(step["sandbox_type"], check.sandbox, plugins.sandboxes);
  if ("unknown" in chain) {
    const { near, known } = plugins.sandboxes.unknown(chain.unknown);
    const message = `sandbox_type ${JSON.stringify(chain.unknown)} is not known${near}; those there are: ${known}`;
    return [{ code: "deploy-provider", message }];
  }
  const pinned = step["env_version"];
  const env = await plannedEnv(plan, store, String(step["env_id"]), typeof pinned === "number" ? pinned : null);
  const ofLinks = await Promise.all(chain.map((link) => linkFindings(step, link, env, check, whyNot)));
  return [...optionFindings(step, env), ...ofChain(chain, ofLinks)];
}

function ofChain(chain: Chain, ofLinks: readonly (readonly Finding[])[]): Finding[] {
  if (ofLinks.some((findings) => findings.length === 0)) return [];
  if (chain.length === 1) return ofLinks.flat();
  return chain.flatMap(({ name }, at) => (ofLinks[at] ?? []).map(({ code, message }) => ({ code, message: `on ${name}: ${message}` })));
}

/** Answers `WhyNot` for one preflight. */
export function askedOnce(): WhyNot {
  const answers = new Map<string, Promise<Finding | null>>();
  return (sandbox) => {
    const answer = answers.get(sandbox.name) ?? whyNotHere(sandbox);
    answers.set(sandbox.name, answer);
    return answer;
  };
}

async function whyNotHere({ name, provider }: Sandbox): Promise<Finding | null> {
  const engine = provider.capabilities.image === "build" ? await engineProblem() : null;
  if (engine !== null) return { code: "deploy-engine", message: `no Docker Engine answers: ${engine.why}; ${engine.next}` };
  const missing = await provider.unavailable();
  return missing === null
    ? null
    : { code: "deploy-provider", message: `the sandbox ${name} can't be used here: ${missing.why}; ${missing.next}` };
}

async function linkFindings(step: PlannedStep, link: Sandbox, env: PlannedEnv, check: DeployCheck, whyNot: WhyNot): Promise<Finding[]> {
  const { capabilities } = link.provider;
  const provider = findEnvProvider(check.plan.inner.registry, env.provider);
  const ttlSeconds = step["ttl_seconds"];
  const sites = env.servers.filter(({ kind }) => kind === "website").map(({ name }) => name);
  const set = {
    cpu: numberOf(step["cpu"]),
    memoryMb: numberOf(step["memory_mb"]),
    gatewayMode: step["gateway_mode"] === "consistent" ? "consistent" : "performance",
    auth: check.auth,
  } as const;
  const missing = await whyNot(link);
  return [
    ...(missing === null ? [] : [missing]),
    ...refusedPlace(
      { ttlSeconds: typeof ttlSeconds === "number" ? ttlSeconds : DEFAULT_TTL_S, gateway: check.gateway, sites },
      capabilities,
    ),
    ...(provider === undefined ? [] : refusedOptions(set, capabilities, provider)),
    ...platformFindings(link, env),
    ...(await dockerfileFindings(link, env, check)),
    ...(await infraFindings(link, env, check)),
  ];
}

/** A step's own, where it sets none (5-run §8.1). */
const DEFAULT_TTL_S = 7200;

const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Options that no sandbox takes. */
function optionFindings(step: PlannedStep, env: PlannedEnv): Finding[] {
  const findings: Finding[] = [];
  for (const option of ["cpu", "memory_mb", "disk_size_gb"]) {
    const value = step[option];
    if (typeof value === "number" && value <= 0)
      findings.push({ code: "deploy-option", message: `${option} is ${value}; it has to be more than 0` });
  }
  const mode = step["gateway_mode"] ?? "performance";
  if (mode !== "performance" && mode !== "consistent") {
    findings.push({ code: "deploy-option", message: `gateway_mode is ${JSON.stringify(mode)}; it may be performance or consistent` });
  }
  if (typeof step["artifact_id"] === "string") {
    findings.push({
      code: "deploy-env-provider",
      message: `artifact_id is for env types of plugins, and ${env.type} takes none: use a load_artifact step`,
    });
  }
  return findings;
}

/** Images that are fixed to a platform, where what runs from their source has this machine's (4-bundle §10.7). */
function platformFindings({ name, provider }: Sandbox, env: PlannedEnv): Finding[] {
  if (provider.capabilities.image !== "source") return [];
  const own = machinePlatform();
  return env.servers
    .flatMap((server) => server.images)
    .flatMap(({ entry, platform }) => {
      if (platform === null || platform === own) return [];
      const message = `${entry}: is for ${platform}, and ${name} runs it on this machine, which is ${own}: leave out what fixes it (--platform, [build] platform), or use --sandbox local`;
      return [{ code: "deploy-platform", message }];
    });
}

/**
 * A Dockerfile that the provider can't honour, each line with its reason. A provider that runs from source is asked about every
 * image, one that builds only about those that this run would build.
 */
async function dockerfileFindings({ name, provider }: Sandbox, env: PlannedEnv, { plan }: DeployCheck): Promise<Finding[]> {
  const fromSource = provider.capabilities.image === "source";
  const planned = new Set(plan.writes.filter(({ source }) => source !== undefined).map(({ id }) => id));
  const findings = env.servers
    .flatMap((server) => server.images)
    .filter(({ imageId }) => fromSource || planned.has(imageId))
    .map(async ({ entry, source }): Promise<Finding[]> => {
      if (source === null)
        return [{ code: "deploy-image", message: `${entry}: ${name} runs images from their source, and the store has lost this one's` }];
      const reasons = await provider.imageProblems(source);
      return reasons.map((reason) => ({ code: "deploy-dockerfile", message: `${entry}: ${reason}` }));
    });
  return (await Promise.all(findings)).flat();
}

/** The gateway's env, where one is built and started for the deployment. */
async function infraFindings({ provider }: Sandbox, env: PlannedEnv, check: DeployCheck): Promise<Finding[]> {
  const { gateway, gatewayEnvId, store, plugins } = check;
  if (!envProvider(env.provider, plugins.envProviders).startsGateway(gateway) || provider.capabilities.image !== "build") return [];
  const problem = await gatewayEnvProblem({ store, gatewayEnvId });
  return problem === null ? [] : [{ code: "deploy-infra", message: problem }];
}
