import { CARD_PATH, type DeploymentRecord, type DockerImageRecord, joined, UserError } from "@agent-env/protocol";
import { storedVerdicts } from "../check-site/stored-report.ts";
import { imageBuilder } from "../infra/builder.ts";
import { ensureGateway } from "../infra/gateway-image.ts";
import type { EnvProvider, Started } from "../providers/env/provider.ts";
import { envProvider } from "../providers/env/registry.ts";
import { NoRoom, type SandboxSession, type Service, type SessionSpec } from "../providers/sandbox/provider.ts";
import type { Sandbox } from "../providers/sandbox/sandboxes.ts";
import { canDeploy } from "../types/can-deploy.ts";
import type { DeployContext, Deployment, DeployOptions, LeftUp } from "./deployment.ts";
import { mcpUrl } from "./gateway-answers.ts";
import { findLeftoverThings, removeLeftovers } from "./gc.ts";
import { draftRecord, expiry, minuteUtc, newIdentity, rfc3339 } from "./identity.ts";
import { drawKey } from "./keys.ts";
import { START_ALLOWANCE_S } from "./labels.ts";
import { refusedOptions, refusedPlace } from "./options.ts";
import { createRecord, updateRecord } from "./record.ts";
import { sitePrefixes, withVerdicts } from "./site-prefixes.ts";
import { stopDeployment } from "./teardown.ts";
import { authorization } from "./tokens.ts";
import { mainService, waves } from "./topology.ts";

/** For a step or a verifier: longer than any of them takes. */
const OWN_TOKEN_S = 7_200;

/**
 * Starts an env and waits until it answers. What can't be deployed is refused before anything is started; when a start
 * fails or is aborted, everything that was started is removed before this rejects.
 */
export async function deployEnv(options: DeployOptions, context: DeployContext): Promise<Deployment> {
  const provider = envProvider(options.env.provider, context.plugins.envProviders);
  const sandbox = context.plugins.sandboxes.find(options.sandbox);
  if (sandbox === null) throw new Error(`${options.sandbox}: a sandbox that was chosen and isn't known`);
  await refuse(options, provider, sandbox);
  await provider.require(options.gateway, context);
  await removeExpired(sandbox, context);

  const gatewayImage = provider.startsGateway(options.gateway) ? await gatewayImageFor(sandbox, options, context) : null;
  const services = provider.services(options.env, options.gateway, gatewayImage);
  const identity = newIdentity(options.env);
  const { deploymentId } = identity;
  const now = Date.now();
  const expiresAt = new Date(now + options.ttlSeconds * 1000);
  const hasGateway = !provider.capabilities.refusesOptions.includes("auth");
  const labelsExpire = new Date(now + (options.ttlSeconds + START_ALLOWANCE_S) * 1000);
  const { owner, cpu, memoryMb } = options;
  context.emit({ kind: "deploy", entry: deploymentId, phase: "start", message: `deploying ${options.env.id} v${options.env.version}` });
  try {
    const keys = hasGateway ? { keys: [await drawKey(context.stateDir, deploymentId)] } : {};
    const auth = options.auth === "token" ? { mode: "token" as const, keys: keys.keys ?? [] } : { mode: "open" as const, ...keys };
    const draft = draftRecord(options, identity, { auth, expiresAt });
    // It is this start's own, and never leaves this process: a start may take longer than the deployment is to live.
    const orchestrator = { caller: "deploy", preset: "orchestrator", ttlSeconds: START_ALLOWANCE_S } as const;
    const headers = await authorization(context.stateDir, { ...draft, expires_at: null }, orchestrator);
    const session = await opened(sandbox, { deploymentId, owner, expiresAt: rfc3339(labelsExpire), cpu, memoryMb }, context);
    const addresses = await session.reserve(services);
    const sited = {
      ...draft,
      sites: withVerdicts(await sitePrefixes(session, services), await storedVerdicts(context.store, options.env, context.emit)),
    };
    await startAll(
      { session, provider, services, addresses, record: provider.withServers(sited, options.env, options.gateway, addresses) },
      context,
    );
    const record = await settledRecord({ options, context, deploymentId, services, addresses, session, headers }, provider, sited);
    return deploymentOf(record, session, options, context);
  } catch (error) {
    context.emit({ kind: "deploy", entry: deploymentId, phase: "failed", message: error instanceof Error ? error.message : String(error) });
    const { leftUp } = await stopDeployment(deploymentId, context, options.sandbox);
    for (const left of leftUp) {
      context.emit({ kind: "log", entry: deploymentId, level: "warning", message: `still up: ${left.kind} ${left.name}: ${left.reason}` });
    }
    throw leftUp.length === 0 ? error : new LeftBehind(deploymentId, leftUp, error);
  }
}

/** A deploy that failed, and of which something could not be removed. Why it failed is its cause. */
export class LeftBehind extends UserError {
  constructor(deploymentId: string, leftUp: readonly LeftUp[], cause: unknown) {
    const reasons = leftUp.map(({ kind, name, reason }) => `still up: ${kind} ${name}: ${reason}`);
    super(
      {
        what: cause instanceof Error ? cause.message : String(cause),
        why: [...(cause instanceof UserError ? [cause.why] : []), ...reasons].join("\n"),
        next: `agent-env env stop ${deploymentId}`,
      },
      { cause },
    );
  }
}

async function refuse(options: DeployOptions, provider: EnvProvider, { name, provider: sandbox }: Sandbox): Promise<void> {
  const { env } = options;
  const servers = env.servers.map((server) => ({ kind: server.kind, name: server.name, field: null }));
  const reason = canDeploy({ provider: provider.capabilities, type: env.type, shape: env.shape, servers });
  if (reason !== null) {
    throw new UserError({ what: `${env.id}: it can't be deployed`, why: reason, next: "mend its env.toml, then run its bundle" });
  }
  const sites = env.servers.filter(({ kind }) => kind === "website").map((server) => server.name);
  const refused = [
    ...refusedPlace({ ...options, sites }, sandbox.capabilities),
    ...refusedOptions(options, sandbox.capabilities, provider.capabilities),
  ];
  if (refused.length > 0) {
    throw new UserError({
      what: `${env.id}: it can't be deployed with these options`,
      why: refused.map(({ message }) => message).join("\n"),
      next: "leave them out, or choose another --sandbox",
    });
  }
  const missing = await sandbox.unavailable();
  if (missing !== null) throw new UserError({ what: `the sandbox ${name} can't be used here`, ...missing, exitCode: 2 });
}

/** A deployment whose time is over ends with the next deploy on its provider (5-run §5.11). */
async function removeExpired(sandbox: Sandbox, context: DeployContext): Promise<void> {
  const found = await findLeftoverThings(context, [sandbox]);
  await removeLeftovers(
    found.filter(({ cause }) => cause === "expired"),
    context,
  );
}

async function gatewayImageFor({ provider }: Sandbox, { owner }: DeployOptions, context: DeployContext): Promise<DockerImageRecord | null> {
  return provider.capabilities.image === "build" ? ensureGateway({ ...context, builder: imageBuilder(), owner }) : null;
}

/** Opens the deployment's place. Where there is no room, what is left over of others goes first, and it is tried once more. */
async function opened(sandbox: Sandbox, spec: SessionSpec, context: DeployContext): Promise<SandboxSession> {
  try {
    return await sandbox.provider.open(spec, context);
  } catch (error) {
    if (!(error instanceof NoRoom)) throw error;
    const found = await findLeftoverThings(context, [sandbox]);
    if (found.length === 0) throw error;
    const ids = new Set(found.map(({ deploymentId }) => deploymentId));
    context.emit({
      kind: "log",
      entry: spec.deploymentId,
      level: "warning",
      message: `${error.message}: removing what is left over of ${[...ids].join(", ")}`,
    });
    await removeLeftovers(found, context);
    return sandbox.provider.open(spec, context);
  }
}

type Start = Pick<Started, "session" | "services" | "addresses"> & { readonly provider: EnvProvider; readonly record: DeploymentRecord };

/** Starts wave after wave, all of a wave at once. Rejects only when all starts of the wave have ended, so that none comes after the teardown. */
async function startAll(start: Start, { signal, gatewaySettings }: DeployContext): Promise<void> {
  const { session, provider, services, addresses, record } = start;
  const variables = (service: Service): Record<string, string> => ({
    ...(service.role === "gateway" ? gatewaySettings : {}),
    ...provider.variables(service, addresses, record),
  });
  for (const wave of waves(services)) {
    signal.throwIfAborted();
    const starts = await Promise.allSettled(wave.map((service) => session.start(service, variables(service))));
    const failed = starts.find((start) => start.status === "rejected");
    if (failed) throw failed.reason;
  }
}

/** Waits until it answers, and writes its record. */
async function settledRecord(started: Omit<Started, "publish">, provider: EnvProvider, draft: DeploymentRecord): Promise<DeploymentRecord> {
  const { options, context, deploymentId, session, addresses } = started;
  const { store } = context;
  let isPublished = false;
  const publish = async (record: DeploymentRecord): Promise<void> => {
    await createRecord(store, record);
    isPublished = true;
  };
  // A published address may have changed at the start.
  const record = provider.withServers(draft, options.env, options.gateway, addresses);
  const { url, card, fields } = await provider.ready({ ...started, publish }, record);
  context.signal.throwIfAborted();

  const now = new Date();
  const known: Partial<DeploymentRecord> = {
    ...fields,
    ...expiry(new Date(now.getTime() + options.ttlSeconds * 1000)),
    created_at_utc: minuteUtc(now),
    environment_card: card,
    environment_card_url: joined(url, CARD_PATH),
    environment_card_read_at_utc: minuteUtc(now),
    mcp_url: mcpUrl(url, card),
    mcp_server_name: card.name,
    sandbox_ids: [...session.ids],
  };
  if (!isPublished) return createRecord(store, { ...record, ...known });
  const updated = await updateRecord(store, deploymentId, () => known);
  if (updated === null) throw new Error(`${deploymentId}: its record is gone`);
  return updated;
}

function deploymentOf(record: DeploymentRecord, session: SandboxSession, options: DeployOptions, context: DeployContext): Deployment {
  const serviceOf = (name: string): string => {
    const server = options.env.servers.find((candidate) => candidate.name === name);
    if (server === undefined) throw new Error(`${options.env.id} has no server ${name}`);
    return mainService(server);
  };
  return {
    record,
    authorization: (preset) => authorization(context.stateDir, record, { caller: `run-${preset}`, preset, ttlSeconds: OWN_TOKEN_S }),
    placeFile: (server, path, bytes) => session.placeFile(serviceOf(server), path, bytes),
    logs: (server, lines) => session.logs(serviceOf(server), lines),
    teardown: async () => (await stopDeployment(String(record.deployment_id), context, options.sandbox)).leftUp,
  };
}
