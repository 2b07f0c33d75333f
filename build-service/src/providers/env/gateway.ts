import { type DeployedServer, type DeploymentRecord, joined, UserError } from "@agent-env/protocol";
import { allReady, GATEWAY_BUDGET_S, serverCheck } from "../../deploy/all-ready.ts";
import { gatewayHealth, readCard, refuseClashes } from "../../deploy/gateway-answers.ts";
import { listens, settled } from "../../deploy/readiness.ts";
import {
  type Addresses,
  addressOf,
  deployedServers,
  GATEWAY_NAME,
  gatewayService,
  gatewayVariables,
  serverServices,
  serverVariables,
} from "../../deploy/topology.ts";
import { ENV_PROVIDERS } from "../capabilities.ts";
import type { EnvProvider, Started } from "./provider.ts";

/** One that has just been started may still bundle itself. */
const EDGE_BUDGET_S = 3;

/** Any env behind a gateway: one of its own, or the edge gateway that serves many. */
export const gatewayProvider: EnvProvider = {
  capabilities: ENV_PROVIDERS.gateway,
  startsGateway: (mode) => mode === "container",
  async require(mode, { edgeUrl, signal }) {
    if (mode === "edge") await requireEdge(edgeUrl, signal);
  },
  services: (env, mode, gatewayImage) =>
    mode === "container" ? [...serverServices(env, false), gatewayService(gatewayImage)] : serverServices(env, true),
  variables: (service, addresses, record) =>
    service.role === "gateway" ? gatewayVariables(addresses, record) : serverVariables(service, addresses),
  withServers: (draft, env, mode, addresses) => {
    const servers = deployedServers(env, addresses, mode === "container" ? "inside" : "outside", draft.deployment_id ?? "");
    return { ...draft, servers, browse_urls: mode === "container" ? browseUrls(servers, addresses) : {} };
  },
  async ready(started, record) {
    const { options, context, deploymentId } = started;
    const url = options.gateway === "container" ? await containerReady(started) : await edgeReady(started, record);
    const card = await readCard(url, started);
    await refuseClashes(options.env.id, url, started);
    context.emit({ kind: "deploy", entry: deploymentId, phase: "ready", message: `${options.env.id} is up at ${url}` });
    return { url, card, fields: { gateway_url: url, website_frontend_urls: sitePages(record.servers, url) } };
  },
};

async function containerReady(started: Started): Promise<string> {
  const url = addressOf(started.addresses, GATEWAY_NAME).outside;
  if (url === null) throw new Error("a container gateway is published");
  const servers = started.services.filter(({ role }) => role !== "gateway").map((service) => serverCheck(started, service));
  const gateway = { name: "/health", budgetSeconds: GATEWAY_BUDGET_S, attempt: gatewayHealth(url) };
  await allReady(started, [...servers, { service: GATEWAY_NAME, from: "here", ...gateway }]);
  return url;
}

/** Whatever it answers to that path: something listens there. Only a deployment's own path tells more. */
async function requireEdge(edgeUrl: string, signal: AbortSignal): Promise<void> {
  const { ok, reason } = await settled({ name: "edge gateway", budgetSeconds: EDGE_BUDGET_S, attempt: listens(edgeUrl) }, signal);
  if (ok) return;
  throw new UserError({
    what: `${edgeUrl}: no edge gateway answers`,
    why: reason,
    next: "start it in another shell: `agent-env gateway dev`",
  });
}

/** The edge gateway reads the record from the store: it is written before, and up only when that gateway knows it. */
async function edgeReady(started: Started, record: DeploymentRecord): Promise<string> {
  const { context, deploymentId } = started;
  await allReady(
    started,
    started.services.map((service) => serverCheck(started, service)),
  );
  const url = joined(context.edgeUrl, `/d/${deploymentId}`);
  await started.publish({ ...record, gateway_url: url, website_frontend_urls: sitePages(record.servers, url) });
  const { ok, reason } = await settled({ name: "/health", budgetSeconds: GATEWAY_BUDGET_S, attempt: gatewayHealth(url) }, context.signal);
  if (ok) return url;
  throw new UserError({
    what: `${url}/health: the edge gateway does not serve the deployment within ${GATEWAY_BUDGET_S} s`,
    why: `the last answer was: ${reason}`,
    next: `check that it runs on this state folder: \`agent-env gateway dev\` serves ${context.edgeUrl}`,
  });
}

/**
 * Where the agent's browser finds sites, if not by the names of their own network: on a network that all share, a front end's own
 * address leads past the gateway, to all that is reserved.
 */
function browseUrls(servers: readonly DeployedServer[], addresses: Addresses): Record<string, string> {
  const { inside, outside } = addressOf(addresses, GATEWAY_NAME);
  return inside === outside ? sitePages(servers, inside) : {};
}

/** Where each site's pages are (5-run §6). */
function sitePages(servers: readonly DeployedServer[], url: string): Record<string, string> {
  const sites = servers.filter(({ kind }) => kind === "website");
  return Object.fromEntries(sites.map(({ name }) => [name, joined(url, `/website/${name}/`)]));
}
