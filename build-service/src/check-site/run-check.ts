import { type CheckedSite, type SiteMode, type SiteReport, UserError } from "@agent-env/protocol";
import { sha256Hex } from "../bundle/ids.ts";
import type { DeployableEnv, DeployContext, LeftUp } from "../deploy/deployment.ts";
import { rfc3339 } from "../deploy/identity.ts";
import { updateRecord } from "../deploy/record.ts";
import { authorization } from "../deploy/tokens.ts";
import { agentEnvVersion } from "../report/version.ts";
import type { Act } from "./act-script.ts";
import { launchBrowser, requiredChromium, requiredDriver } from "./browser.ts";
import { checkSite } from "./check-site.ts";
import { reportPage } from "./report-page.ts";
import { keptData } from "./site-data.ts";
import { refuseMode } from "./sites-up.ts";
import { newestReport, siteImages, storeReport } from "./stored-report.ts";
import type { Target } from "./targets.ts";

const RESTORE_BUDGET_MS = 60_000;

export type CheckRequest = {
  readonly mode: SiteMode | "both";
  readonly acts: { readonly file: string; readonly text: string; readonly acts: readonly Act[] } | null;
  readonly mostPages: number;
  /** Where Chromium is found. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type CheckResult = { readonly report: SiteReport; readonly page: string; readonly leftUp: readonly LeftUp[] };

/**
 * The report of an earlier check that still holds: of the same images, with the same options, by this version. It is stored with
 * the env's own version too. Null where there is none.
 */
export async function earlierReport(env: DeployableEnv, request: CheckRequest, context: DeployContext): Promise<SiteReport | null> {
  if (request.mode !== "both") return null;
  const images = siteImages(env);
  const found = await newestReport(context.store, env, context.emit);
  if (found === null || found.env === null) return null;
  const isSame =
    found.agent_env_version === agentEnvVersion() &&
    JSON.stringify(found.options) === JSON.stringify(optionsOf(request)) &&
    found.sites.length === images.size &&
    found.sites.every(({ site, images: checked, verdict }) => verdict !== null && checked === images.get(site));
  if (!isSame) return null;
  const report = { ...found, env: { id: env.id, version: env.version } };
  if (found.env.version !== env.version) await storeReport(context.store, report, reportPage(report));
  return report;
}

/**
 * Checks the sites of a target in a browser, and takes down what `open` started, however it ends. A report of an env in both
 * modes is stored beside its record, and a deployment that goes on gets the verdicts. Throws a `UserError` (exit code 2) where
 * browser or site can't be started.
 */
export async function runCheck(open: () => Promise<Target>, request: CheckRequest, context: DeployContext): Promise<CheckResult> {
  const chromium = requiredChromium(request.env);
  await requiredDriver();
  const target = await open();
  let leftUp: readonly LeftUp[] = [];
  let report: SiteReport;
  try {
    report = await checked(target, chromium, request, context);
  } finally {
    leftUp = await target.close();
  }
  const page = reportPage(report);
  if (report.env !== null && request.mode === "both") await storeReport(context.store, report, page);
  if (target.isOthers && request.mode === "both") await copyVerdicts(target, report, context);
  return { report, page, leftUp };
}

async function checked(target: Target, chromium: string, request: CheckRequest, context: DeployContext): Promise<SiteReport> {
  const { record, env } = target;
  const { gateway_url: gateway } = record;
  if (gateway === null) throw new Error(`${record.deployment_id}: sites without a gateway`);
  const { signal, emit, stateDir } = context;
  for (const site of target.sites) refuseMode(site, request.mode);
  const orchestrator = { caller: "check-site", preset: "orchestrator", ttlSeconds: 600 } as const;
  const data = await keptData(gateway, { signal, headers: () => authorization(stateDir, record, orchestrator) });
  if (data.lacking !== null)
    emit({
      kind: "log",
      entry: record.deployment_id ?? "",
      level: "warning",
      message: `its data is not reset between the modes: ${data.lacking}`,
    });
  const browser = await launchBrowser(
    chromium,
    target.sites.flatMap(({ host, prefix }) => [host ?? prefix, prefix].map((url) => new URL(url).hostname)),
  );
  try {
    const images = env === null ? new Map<string, string>() : siteImages(env);
    const sites: CheckedSite[] = [];
    for (const site of target.sites) {
      const found = await checkSite(site, {
        browser,
        mode: request.mode,
        acts: request.acts?.acts ?? [],
        actFile: request.acts?.file ?? "",
        mostPages: request.mostPages,
        signal,
        emit,
        reset: () => data.restore(signal),
      });
      sites.push({ ...found, images: images.get(site.site) ?? null });
    }
    return {
      format_version: 1,
      agent_env_version: agentEnvVersion(),
      checked_at: rfc3339(new Date()),
      browser: `Chromium ${browser.version()}`,
      env: env === null ? null : { id: env.id, version: env.version },
      address: env === null ? (record.servers[0]?.frontend_url ?? gateway) : null,
      options: optionsOf(request),
      sites,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (browser.isConnected()) throw error;
    const problem = {
      what: `${chromium}: the browser ended during the check`,
      why: "nothing of agent-env's ended it",
      next: "check again",
    };
    throw new UserError({ ...problem, exitCode: 2 }, { cause: error });
  } finally {
    await browser.close();
    // Also after an interruption: what goes on must not keep what a walk has changed.
    if (target.isOthers) await data.restore(AbortSignal.timeout(RESTORE_BUDGET_MS));
  }
}

/** A deployment's record holds the verdicts of its sites (5-run §6): the gateway warns by them. */
async function copyVerdicts({ record }: Target, report: SiteReport, { store }: DeployContext): Promise<void> {
  const { deployment_id: id } = record;
  if (id === undefined) return;
  await updateRecord(store, id, ({ sites }) => {
    const verdicts = report.sites.flatMap(({ site, verdict }) => (verdict === null ? [] : [[site, { ...sites[site], verdict }] as const]));
    return { sites: { ...sites, ...Object.fromEntries(verdicts) } };
  });
}

function optionsOf({ mostPages, acts }: CheckRequest): SiteReport["options"] {
  return { pages: mostPages, acts: acts === null ? null : sha256Hex(acts.text) };
}
