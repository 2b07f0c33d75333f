import { type AnyRecord, type Kind, Refused, UserError } from "@agent-env/protocol";
import { materialize } from "../bundle/materialize.ts";
import { type Plan, planBundle } from "../bundle/plan.ts";
import { plannedEnv } from "../bundle/planned-env.ts";
import type { Rebuild } from "../bundle/rebuild.ts";
import type { Settings } from "../config/settings.ts";
import { deployOnChain } from "../deploy/deploy-chain.ts";
import type { Deployment } from "../deploy/deployment.ts";
import { loadDeployableEnv } from "../deploy/env.ts";
import { findLeftovers } from "../deploy/gc.ts";
import type { ImageBuilder } from "../images/builder.ts";
import { standIns } from "../images/stand-ins.ts";
import { imageBuilder } from "../infra/builder.ts";
import { ensureGateway } from "../infra/gateway-image.ts";
import type { Installed } from "../plugins/installed.ts";
import { envProvider } from "../providers/env/registry.ts";
import type { Sandbox } from "../providers/sandbox/sandboxes.ts";
import type { Emit } from "../report/events.ts";
import { hasLocalStore } from "../store/local.ts";
import { openStore, recordsSetting } from "../store/open.ts";
import { holdRun, newRunId } from "../store/run-lock.ts";
import type { Store } from "../store/store.ts";
import { readVersion } from "../store/versions.ts";
import { type AskedSandbox, type Chain, type ChosenSandbox, chainName, chooseSandbox, sandboxOf } from "./choose-sandbox.ts";
import { edgeUrlOf } from "./edge-url.ts";
import { fetchBases } from "./fetch-bases.ts";
import type { FoundBundle } from "./find-bundle.ts";
import { Interrupted } from "./interrupted.ts";
import { pooled } from "./pool.ts";
import { type PreflightRequest, preflight } from "./preflight.ts";
import { belowThreshold, keepResult, type RunResult, taskEntry } from "./result.ts";
import { runTask, type TaskResult, type TaskServices, takenDown } from "./task-run.ts";

export type RunRequest = {
  readonly bundle: FoundBundle;
  readonly plugins: Installed;
  readonly stateDir: string;
  readonly tasks: readonly string[];
  readonly evals: readonly string[];
  readonly sandbox: AskedSandbox;
  readonly settings: Pick<Settings, "build" | "env" | "envs" | "stores" | "verifiers">;
  readonly gateway: "container" | "edge";
  readonly auth: "open" | "token";
  /** What gateways of deployments are told besides: variables that the operator has set (`gatewaySettings`). */
  readonly gatewaySettings: Readonly<Record<string, string>>;
  readonly images: ImageOptions;
  readonly concurrency: number;
  readonly minScore: number | null;
  /** Called once when the tasks have ended and something is up; that is taken down when it resolves. */
  readonly keep: ((kept: KeptUp) => Promise<void>) | null;
  readonly emit: Emit;
  readonly signal: AbortSignal;
};

/** What a run leaves up on purpose, and how its tasks ended. */
export type KeptUp = { readonly tasks: RunResult["tasks"]; readonly deployments: readonly Deployment[] };

/** What a run does about images beyond building what has changed. */
export type ImageOptions = {
  /** Written anew, and built without the build cache. */
  readonly rebuild: Rebuild;
  /** Fetch base images first. */
  readonly pull: boolean;
  /** Fix what was fetched in the bundle's lock file. */
  readonly lock: boolean;
  /** What they are built for; null: whatever the Engine's own is. */
  readonly platform: string | null;
};

export type Planned = {
  readonly plan: Plan;
  readonly sandbox: ChosenSandbox;
  /** Null where the run's sandbox needs no built image. */
  readonly builder: ImageBuilder | null;
  /** Some selected deploy is served by a gateway's container of its own. */
  readonly needsGatewayImage: boolean;
};

/**
 * Reads, plans and checks; writes nothing and makes no state folder. Throws `Refused` with all problems of the stage that
 * has any.
 */
export async function planRun(request: RunRequest, store: Store): Promise<Planned> {
  const { bundle, tasks, evals, emit } = request;
  if (bundle.note !== null) emit({ kind: "log", level: "info", message: bundle.note });
  const { plugins } = request;
  const sandbox = await chooseSandbox(request.sandbox, plugins.sandboxes);
  const { rebuild, platform, pull } = request.images;
  const { capabilities } = (await leading(sandbox.chain)).provider;
  const builder = capabilities.image === "build" ? imageBuilder({ timeoutS: request.settings.build().timeout_s }) : null;
  if (pull && builder === null) {
    const message = `--pull does nothing on ${chainName(sandbox.chain)}, where no image is built`;
    emit({ kind: "log", level: "warning", message });
  }
  const { plan, problems } = await planBundle({
    folder: bundle.folder,
    ...(bundle.installed === null ? {} : { installed: bundle.installed }),
    selection: { tasks, evals },
    registry: plugins.registry,
    store,
    rebuild,
    platform,
    ...(builder === null ? {} : { engine: builder }),
  });
  if (plan === null) throw new Refused(problems);
  for (const { path, message } of plan.warnings) emit({ kind: "log", entry: path, level: "warning", message });
  const found = await preflight({ plan, store, plugins, sandbox, ...preflightSettings(request) });
  if (found.length > 0) throw new Refused(found);
  emit({ kind: "log", level: "info", message: `sandbox ${chainName(sandbox.chain)}: ${sandbox.reason}` });
  const needsGatewayImage = builder !== null && (await hasGateway(plan, store, request));
  return { plan, sandbox, builder, needsGatewayImage };
}

/** Plans, makes and runs a bundle's tasks, and takes everything down again (5-run §1). Its result is also kept on disk. */
export async function runBundle(request: RunRequest): Promise<{ result: RunResult; path: string }> {
  const { stateDir, emit } = request;
  const startedAt = new Date();
  const runId = newRunId(startedAt);
  const { planned, store } = await planAndOpen(request);
  const { signal } = request;
  const held = holdRun(stateDir, runId);
  try {
    sayNotSelected(planned.plan, request);
    await sayLeftovers(store, request);
    const { sandbox, builder, needsGatewayImage } = planned;
    const { pull, lock } = request.images;
    const fetched = builder !== null && pull ? await fetchBases(planned.plan, { builder, lock, emit, signal }) : planned.plan;
    const plan = await materialize(fetched, {
      store,
      emit,
      builder,
      buildsAtOnce: request.settings.build().concurrency,
      runId,
      signal,
    });
    if (builder !== null && needsGatewayImage) {
      await ensureGateway({ store, emit, signal, builder, owner: runId, gatewayEnvId: gatewayEnvId(request) });
    }
    if (builder !== null) await sayStandIns(emit);
    signal.throwIfAborted();
    const services = servicesOf(request, { plan, sandbox }, store, runId);
    const results = await pooled(plan.tasks, request.concurrency, (task) => runTask(task, services));
    const entry = (result: TaskResult) => taskEntry(result, plan.versionOf("task", result.id));
    const kept = results.flatMap((result) => result.kept);
    if (request.keep !== null && kept.length > 0) await request.keep({ tasks: results.map(entry), deployments: kept });
    const tasks = (await Promise.all(results.map((result) => takenDown(result, emit)))).map(entry);
    const result = resultOf({ request, plan, tasks, runId, startedAt });
    return { result, path: keepResult(stateDir, result) };
  } finally {
    await held.release();
    await store.close();
  }
}

/** Plans over the store as it is; one that isn't there is made only when the plan holds. */
async function planAndOpen(request: RunRequest): Promise<{ planned: Planned; store: Store }> {
  const { stateDir, settings } = request;
  const records = recordsSetting(settings);
  const isThere = hasLocalStore(stateDir);
  const store = await openStore(records, stateDir, isThere ? "write" : "read");
  try {
    const planned = await planRun(request, store);
    return { planned, store: isThere ? store : await openStore(records, stateDir, "write") };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function gatewayEnvId({ settings }: RunRequest): string {
  return settings.envs().default_gateway_env_id;
}

function preflightSettings(request: RunRequest): Pick<PreflightRequest, "gateway" | "auth" | "gatewayEnvId" | "python"> {
  return { gateway: request.gateway, auth: request.auth, gatewayEnvId: gatewayEnvId(request), python: request.settings.verifiers().python };
}

/** The first of a chain that can be used here: what is made ahead is made for it, and what a later one needs when that is tried. */
async function leading(chain: Chain): Promise<Sandbox> {
  for (const sandbox of chain) if ((await sandbox.provider.unavailable()) === null) return sandbox;
  return chain[0];
}

async function hasGateway(plan: Plan, store: Store, { plugins, gateway }: RunRequest): Promise<boolean> {
  const deploys = plan.tasks.flatMap((task) => task.steps.filter(({ type }) => type === "deploy_env"));
  const envs = await Promise.all([...new Set(deploys.map((step) => String(step["env_id"])))].map((id) => plannedEnv(plan, store, id)));
  return envs.some(({ provider }) => envProvider(provider, plugins.envProviders).startsGateway(gateway));
}

/** Whoever names no task or eval may take what passed for all that is there. */
function sayNotSelected({ leftOut }: Plan, { tasks, evals, emit }: RunRequest): void {
  if (leftOut.length === 0 || tasks.length + evals.length > 0) return;
  emit({ kind: "log", level: "info", message: `not selected: ${leftOut.join(", ")} (no eval names them; --task runs them)` });
}

/** What earlier runs left is no secret: it takes ports and memory. */
async function sayLeftovers(store: Store, { stateDir, emit, plugins }: RunRequest): Promise<void> {
  const found = await findLeftovers({ store, stateDir, plugins });
  const deployments = new Set(found.map(({ deploymentId }) => deploymentId));
  if (found.length === 0) return;
  emit({ kind: "log", level: "warning", message: `left over of earlier runs: ${[...deployments].join(", ")}; agent-env gc removes it` });
}

/** Images that were built on stand-ins are not what they would be elsewhere. */
async function sayStandIns(emit: Emit): Promise<void> {
  const tags = await standIns();
  if (tags.length > 0)
    emit({ kind: "log", level: "warning", message: `base images on this machine that are stand-ins: ${tags.join(", ")}` });
}

function servicesOf(request: RunRequest, { plan, sandbox }: Pick<Planned, "plan" | "sandbox">, store: Store, runId: string): TaskServices {
  const { emit, signal, stateDir } = request;
  return {
    registry: plan.inner.registry,
    store,
    emit,
    signal,
    verifiers: request.settings.verifiers(),
    keep: request.keep !== null,
    async deploy(step) {
      const chain = await sandboxOf(step.sandboxType, sandbox, request.plugins.sandboxes);
      if ("unknown" in chain) throw new Error(`sandbox ${chain.unknown} passed the preflight and isn't known`);
      const env = await loadDeployableEnv(store, request.plugins.registry, {
        id: step.envId,
        version: step.version ?? plan.versionOf("env", step.envId),
      });
      const { cpu, memoryMb, gatewayMode, ttlSeconds, metadata } = step;
      return deployOnChain(
        chain,
        { env, gateway: request.gateway, auth: request.auth, owner: runId, cpu, memoryMb, gatewayMode, ttlSeconds, metadata },
        {
          store,
          stateDir,
          emit,
          signal,
          edgeUrl: edgeUrlOf(stateDir),
          plugins: request.plugins,
          gatewayEnvId: gatewayEnvId(request),
          gatewaySettings: request.gatewaySettings,
        },
      );
    },
    entity: (kind, id, version) => entity(store, kind, id, version ?? plan.versionOf(kind, id)),
  };
}

async function entity(store: Store, kind: Kind, id: string, version: number): Promise<AnyRecord> {
  const record = await readVersion(store, kind, id, version);
  if (record !== null) return record;
  throw new UserError({
    what: `${id}: v${version} is not in the store`,
    why: `the task was planned with that version of the ${kind}`,
    next: "run the bundle again, which plans anew",
  });
}

type Ended = { readonly request: RunRequest; readonly plan: Plan; readonly tasks: RunResult["tasks"]; runId: string; startedAt: Date };

function resultOf({ request, plan, tasks, runId, startedAt }: Ended): RunResult {
  const passed = new Set(tasks.filter(({ outcome }) => outcome === "passed").map(({ id }) => id));
  const evals = plan.evals.map((entry) => ({
    path: entry.path,
    id: entry.id,
    tasks: entry.tasks.length,
    passed: entry.tasks.filter((id) => passed.has(id)).length,
  }));
  return {
    format_version: 1,
    run_id: runId,
    bundle: plan.bundle.idRoot,
    started_at: startedAt.toISOString(),
    ended_at: new Date().toISOString(),
    exit_code: exitCode(request, tasks),
    tasks,
    evals,
    threshold: request.minScore,
  };
}

/** 5-run §11.1. A run that is kept up ends by Ctrl-C, as it was asked to; a closed terminal asks for nothing. */
function exitCode({ signal, keep, minScore }: RunRequest, tasks: RunResult["tasks"]): number {
  const { reason } = signal;
  if (reason instanceof Interrupted && (keep === null || reason.signal === "SIGHUP")) return reason.exitCode;
  const isFailed = tasks.some(({ outcome, left_up }) => outcome === "failed" || outcome === "cancelled" || left_up.length > 0);
  return isFailed || (minScore !== null && belowThreshold(tasks, minScore).length > 0) ? 1 : 0;
}
