import { randomBytes } from "node:crypto";
import type { Settings } from "../config/settings.ts";
import { settled } from "../deploy/readiness.ts";
import { type Get, getOverNetwork, knowsNo } from "./answers.ts";
import { checkAccount } from "./check.ts";
import { type Binding, bindingsOf, planGateway, routesOf, wranglerDocument } from "./plan.ts";
import type { DeployProblem } from "./problem.ts";
import { type Bundle, sizeOf, uploadWorker, type WranglerRun, workerModules, wranglerConfig, wranglerProgram } from "./wrangler.ts";

/** A new route takes a while to be known everywhere. */
const ANSWER_BUDGET_S = 120;
const COMMAND = "gateway deploy";

export type GatewayDeploy = {
  readonly worker: string;
  /** Null: not known, since the account wasn't asked, or has none. */
  readonly url: string | null;
  /** Null: nothing was bundled, because of problems. */
  readonly bundle: Bundle | null;
  readonly bindings: readonly Binding[];
  readonly routes: readonly string[];
  readonly variables: readonly string[];
  readonly secrets: readonly string[];
  readonly problems: readonly DeployProblem[];
  readonly isDeployed: boolean;
};

export type DeployContext = {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onStep: (message: string) => void;
  /** By which the deployed gateway is asked; the network's, where it isn't given. */
  readonly get?: Get;
};

/** Bundles, and says what would be deployed and what of it is wrong, without asking anybody. */
export async function dryRun(context: DeployContext): Promise<GatewayDeploy> {
  const tomlPath = wranglerConfig(COMMAND);
  const { plan, problems } = planGateway(context.settings, tomlPath);
  const place = plan.domain === null ? null : { host: plan.domain, zone: plan.domain };
  const document = wranglerDocument(plan, place);
  const bundle = sizeOf(await workerModules(runOf(context, tomlPath, document, null)));
  return { ...shownPlan(plan, document), url: urlOf(place), bundle, secrets: [], problems, isDeployed: false };
}

/** Checks everything first, then deploys, then asks. With any problem nothing is uploaded. */
export async function deployGateway(context: DeployContext): Promise<GatewayDeploy> {
  const { settings, signal, onStep, get = getOverNetwork } = context;
  const tomlPath = wranglerConfig(COMMAND);
  const { plan, problems } = planGateway(settings, tomlPath);
  const { records } = plan;
  if (records !== null) onStep(`asking account ${records.accountId} for what a deploy needs`);
  const checked = records === null || problems.length > 0 ? null : await checkAccount(plan, records);
  const all = [...problems, ...(checked?.problems ?? [])];
  const document = wranglerDocument(plan, checked?.place ?? null);
  const shown = { ...shownPlan(plan, document), url: urlOf(checked?.place ?? null), secrets: checked?.secrets ?? [] };
  if (records === null || checked === null || checked.place === null || all.length > 0)
    return { ...shown, bundle: null, problems: all, isDeployed: false };

  const run = runOf(context, tomlPath, document, records.apiToken);
  onStep("bundling");
  const bundle = sizeOf(await workerModules(run));
  onStep(`uploading ${shown.worker}`);
  await uploadWorker(run);
  const url = `https://${checked.place.host}`;
  onStep(`waiting for ${url} to answer`);
  const attempt = knowsNo(`probe-${randomBytes(8).toString("hex")}`, url, get);
  const { ok, reason } = await settled({ name: "edge gateway", budgetSeconds: ANSWER_BUDGET_S, attempt }, signal);
  return { ...shown, bundle, problems: ok ? [] : [unanswered(url, reason)], isDeployed: true };
}

function runOf({ env, signal }: DeployContext, tomlPath: string, document: Record<string, unknown>, apiToken: string | null): WranglerRun {
  return { command: COMMAND, program: wranglerProgram(COMMAND, tomlPath), document, env, apiToken, signal };
}

function shownPlan(plan: Parameters<typeof bindingsOf>[0], document: Record<string, unknown>) {
  const { vars = {} } = document;
  return {
    worker: plan.toml.name,
    bindings: bindingsOf(plan),
    routes: plan.domain === null ? [] : routesOf(plan.domain),
    variables: Object.keys(vars ?? {}).sort(),
  };
}

function urlOf(place: { readonly host: string } | null): string | null {
  return place === null ? null : `https://${place.host}`;
}

function unanswered(url: string, reason: string): DeployProblem {
  return {
    what: `${url}: the gateway is uploaded, but doesn't answer`,
    why: `within ${ANSWER_BUDGET_S} s, the last time: ${reason}`,
    next: "look at the domain's DNS record (it has to be proxied) and its certificate, then at: npx wrangler tail",
  };
}
