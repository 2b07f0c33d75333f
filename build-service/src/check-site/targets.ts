import { type DeploymentRecord, joined, UserError } from "@agent-env/protocol";
import { deployOnChain } from "../deploy/deploy-chain.ts";
import type { DeployableEnv, DeployContext, DeployOptions, LeftUp } from "../deploy/deployment.ts";
import { loadDeployableEnv } from "../deploy/env.ts";
import { listDeployments } from "../deploy/list.ts";
import type { Chain } from "../run/choose-sandbox.ts";
import type { SiteUp } from "./check-site.ts";
import { gatewayBefore } from "./gateway-before.ts";
import { sitesUp } from "./sites-up.ts";

/** Sites that are up, to be checked. */
export type Target = {
  readonly record: DeploymentRecord;
  readonly sites: readonly SiteUp[];
  /** Whose deployment it is; null where nothing is stored of it. */
  readonly env: DeployableEnv | null;
  /** It ran before, and goes on. */
  readonly isOthers: boolean;
  /** Takes down what was started for the check. */
  close(): Promise<readonly LeftUp[]>;
};

/** How long what is deployed for a check may live, should nobody take it down. */
const TTL_S = 3_600;

/** Deploys an env for a check. Throws a `UserError` (exit code 2) where it can't be started, or has no site. */
export async function deployedTarget(
  env: DeployableEnv,
  options: Pick<DeployOptions, "owner" | "gateway"> & { readonly chain: Chain },
  context: DeployContext,
): Promise<Target> {
  refuseWithoutSites(env.id, env.servers.filter(({ kind }) => kind === "website").length);
  const { chain, owner, gateway } = options;
  const fixed = { ttlSeconds: TTL_S, cpu: null, memoryMb: null, gatewayMode: "performance", auth: "open", metadata: {} } as const;
  const deployment = await started(() => deployOnChain(chain, { env, owner, gateway, ...fixed }, context));
  const { record } = deployment;
  return { record, sites: sitesUp(record, context.stateDir), env, isOthers: false, close: () => deployment.teardown() };
}

/**
 * What runs at an address: a deployment of ours, or one site of it, where the store knows one there; else whatever answers
 * becomes a site behind a gateway that is started before it. Throws a `UserError` where nothing can be checked there.
 */
export async function targetAt(url: URL, owner: string, context: DeployContext): Promise<Target> {
  const up = (await listDeployments(context.store)).filter(({ status }) => status === "up");
  for (const record of up) {
    const all = sitesUp(record, context.stateDir);
    const sites = isGateway(url, record)
      ? all
      : all.filter(({ host, prefix }) => isBelow(url, prefix) || (host !== null && isBelow(url, host)));
    if (sites.length === 0) continue;
    return { record, sites, env: await envOf(record, context), isOthers: true, close: async () => [] };
  }
  if (url.pathname !== "/" || url.search !== "") {
    throw new UserError({
      what: `${url.href}: no deployment that is up serves a site there`,
      why: "another server is checked from its root, since that is where a site's own host would be",
      next: `agent-env check-site ${url.origin}`,
      exitCode: 2,
    });
  }
  await refuseSilence(url, context.signal);
  const { record, remove } = await started(() => gatewayBefore(url.origin, owner, context));
  return { record, sites: sitesUp(record, context.stateDir), env: null, isOthers: false, close: remove };
}

function refuseWithoutSites(id: string, count: number): void {
  if (count > 0) return;
  throw new UserError({
    what: `${id}: it has no website`,
    why: "what is checked is how a website's pages stand being served under a prefix",
    next: "name an env of type website, or a multi that has one",
    exitCode: 2,
  });
}

async function envOf(record: DeploymentRecord, { store, plugins }: DeployContext): Promise<DeployableEnv | null> {
  const { env_id: id, env_version: version } = record;
  return id === null || version === null ? null : loadDeployableEnv(store, plugins.registry, { id, version });
}

async function refuseSilence(url: URL, signal: AbortSignal): Promise<void> {
  try {
    await (await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]), redirect: "manual" })).body?.cancel();
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new UserError(
      {
        what: `${url.origin}: nothing answers there`,
        why: cause instanceof Error ? cause.message : String(cause),
        next: "start the site, then check it again",
        exitCode: 2,
      },
      { cause: error },
    );
  }
}

/** What keeps a site from being started makes this command end with 2 (7-sites §6), whatever it would be elsewhere. */
async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError({ what: error.message, why: error.why, next: error.next, exitCode: 2 }, { cause: error });
  }
}

function isGateway(url: URL, { gateway_url: gateway }: DeploymentRecord): boolean {
  return gateway !== null && joined(url.href, "/") === joined(gateway, "/");
}

function isBelow(url: URL, base: string): boolean {
  return url.href.startsWith(base) || `${url.href}/` === base;
}
