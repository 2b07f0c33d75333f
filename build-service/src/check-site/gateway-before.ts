import { createServer } from "node:http";
import { DeploymentRecord, joined, UserError } from "@agent-env/protocol";
import type { DeployContext, LeftUp } from "../deploy/deployment.ts";
import { gatewayHealth } from "../deploy/gateway-answers.ts";
import { newIdentity, rfc3339 } from "../deploy/identity.ts";
import { settled } from "../deploy/readiness.ts";
import { addressOf, GATEWAY_NAME, gatewayService, gatewayVariables, siteLabel } from "../deploy/topology.ts";
import { processProvider } from "../providers/sandbox/process/provider.ts";

const START_BUDGET_S = 60;
const LIFE_MS = 3_600_000;

/** The name under which a site is served that has none of its own. */
export const NAMELESS = "site";

/** A gateway of this machine in front of a server that runs already. */
export type GatewayBefore = { readonly record: DeploymentRecord; remove(): Promise<LeftUp[]> };

/**
 * Starts a gateway whose one site is what answers at `origin`, and waits until it serves it. Nothing of it is stored. Whatever
 * fails, nothing is left running.
 */
export async function gatewayBefore(origin: string, owner: string, context: DeployContext): Promise<GatewayBefore> {
  const missing = await processProvider.unavailable();
  if (missing !== null) throw new UserError({ what: `${origin}: no gateway can be started before it here`, ...missing, exitCode: 2 });
  const { deploymentId, name } = newIdentity({ id: NAMELESS, name: null });
  const backend = await noBackend();
  const remove = async (): Promise<LeftUp[]> => {
    backend.close();
    return processProvider.remove(deploymentId, context);
  };
  try {
    const expiresAt = rfc3339(new Date(Date.now() + LIFE_MS));
    const session = await processProvider.open({ deploymentId, owner, expiresAt, cpu: null, memoryMb: null }, context);
    const service = gatewayService(null);
    const addresses = await session.reserve([service]);
    const url = addressOf(addresses, GATEWAY_NAME).outside;
    if (url === null) throw new Error("a gateway is published");
    const server = { name: NAMELESS, kind: "website", url: backend.url, frontend_url: origin, label: siteLabel(NAMELESS, deploymentId) };
    const record = DeploymentRecord.parse({
      deployment_id: deploymentId,
      name,
      auth: { mode: "open" },
      servers: [server],
      gateway_url: url,
      website_frontend_urls: { [NAMELESS]: joined(url, `/website/${NAMELESS}/`) },
    });
    await session.start(service, gatewayVariables(addresses, record));
    const { ok, reason } = await settled({ name: "/health", budgetSeconds: START_BUDGET_S, attempt: gatewayHealth(url) }, context.signal);
    if (ok) return { record, remove };
    throw new UserError({
      what: `${url}/health: the gateway before ${origin} was not ready within ${START_BUDGET_S} s`,
      why: `the last answer was: ${reason}`,
      next: "look whether that address answers",
      exitCode: 2,
    });
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What stands for the backend of a site of which only the pages are looked at: it has no card, and says so. */
function noBackend(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => response.writeHead(404).end());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("a server that listens on a port has one"));
      resolve({
        url: `http://127.0.0.1:${address.port}`,
        close() {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}
