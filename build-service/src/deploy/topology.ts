import { createHash } from "node:crypto";
import {
  backendName,
  DEFAULT_MCP_PATH,
  type DeployedServer,
  type DockerImageRecord,
  frontendName,
  serverContainers,
} from "@agent-env/protocol";
import type { Address, Service } from "../providers/sandbox/provider.ts";
import type { DeployableEnv, DeployableServer } from "./deployment.ts";

/** Ports inside containers (3-wire §constants). */
const GATEWAY_PORT = 18765;
export const MCP_PORT = 18765;
const BACKEND_PORT = 8000;
const FRONTEND_PORT = 80;

/** The gateway's name on a deployment's network. */
export const GATEWAY_NAME = "gateway";

export type Addresses = ReadonlyMap<string, Address>;

/** The services of an env's servers. `published`: this machine reaches them too, as an edge gateway needs. */
export function serverServices(env: DeployableEnv, published: boolean): Service[] {
  return env.servers.flatMap((server): Service[] => {
    const common = { server: server.name, published, restart: false };
    if (server.kind === "mcp") {
      return [{ ...common, name: server.name, role: "mcp", image: server.image.record, port: MCP_PORT }];
    }
    return [
      { ...common, name: backendName(server.name), role: "backend", image: server.backend.record, port: BACKEND_PORT },
      { ...common, name: frontendName(server.name), role: "frontend", image: server.frontend.record, port: FRONTEND_PORT },
    ];
  });
}

/** The container gateway; `image` is null where the provider runs it without one. */
export function gatewayService(image: DockerImageRecord | null): Service {
  return { name: GATEWAY_NAME, role: "gateway", server: null, image, port: GATEWAY_PORT, published: true, restart: true };
}

/** Services that are started at once, in order: a front end needs its backend started, a gateway all of them. */
export function waves(services: readonly Service[]): Service[][] {
  const first = services.filter(({ role }) => role === "mcp" || role === "backend");
  const second = services.filter(({ role }) => role === "frontend" || role === "gateway");
  return [first, second].filter((wave) => wave.length > 0);
}

/** What a server is told at its start (3-wire §topology). The gateway's variables are `gatewayVariables`. */
export function serverVariables(service: Service, addresses: Addresses): Record<string, string> {
  const { listen } = addressOf(addresses, service.name);
  const name = service.server ?? service.name;
  const identity = {
    ENVIRONMENT_NAME: name,
    SERVICE_NAME: name,
    DATABASE_URL: `sqlite:////tmp/${name}.sqlite`,
  };
  // Every address of the container is the default of all three, and the original's images know no `HOST`.
  const host: Record<string, string> = listen.host === "0.0.0.0" ? {} : { HOST: listen.host };
  switch (service.role) {
    case "mcp":
      return { MCP_HOST: listen.host, MCP_PORT: String(listen.port), ...identity };
    case "backend":
      return { PORT: String(listen.port), ...host, ...identity, PYTHONUNBUFFERED: "1" };
    case "frontend":
      return { PORT: String(listen.port), ...host, BACKEND_URL: addressOf(addresses, backendName(name)).inside };
    case "gateway":
      throw new Error("the gateway's variables are made from the deployment's record");
  }
}

/** What the container gateway is told: where to listen, and the record with addresses as it reaches them. */
export function gatewayVariables(addresses: Addresses, record: object): Record<string, string> {
  const { listen } = addressOf(addresses, GATEWAY_NAME);
  return { MCP_HOST: listen.host, MCP_PORT: String(listen.port), GATEWAY_RECORD: JSON.stringify(record) };
}

/** The servers for a deployment's record, with addresses as its gateway reaches them: a container `inside`, the edge `outside`. */
export function deployedServers(
  env: DeployableEnv,
  addresses: Addresses,
  reached: "inside" | "outside",
  deploymentId: string,
): DeployedServer[] {
  const url = (service: string): string => {
    const address = addressOf(addresses, service)[reached];
    if (address === null) throw new Error(`${service} has no address that the gateway reaches`);
    return address;
  };
  return env.servers.map((server) =>
    server.kind === "mcp"
      ? { name: server.name, kind: "mcp", url: url(server.name), mcp_path: DEFAULT_MCP_PATH }
      : {
          name: server.name,
          kind: "website",
          url: url(backendName(server.name)),
          frontend_url: url(frontendName(server.name)),
          label: siteLabel(server.name, deploymentId),
        },
  );
}

/** The service that takes a server's files and writes its log: the MCP server itself, or a site's backend. */
export function mainService(server: DeployableServer): string {
  const [main] = serverContainers(server);
  if (main === undefined) throw new Error(`${server.name} has no container`);
  return main;
}

/**
 * The host label of a site (7-sites §1): `<site>--<deployment>`, or, where that is no DNS label, its first 50 allowed
 * characters with 8 hex digits of the SHA-256 of the full form. It is read from the record, never computed back.
 */
export function siteLabel(site: string, deploymentId: string): string {
  const full = `${site}--${deploymentId}`;
  if (full.length <= 63 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(site)) return full;
  const kept = full
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "")
    .replace(/^-+/, "")
    .slice(0, 50);
  return `${kept}-${createHash("sha256").update(full).digest("hex").slice(0, 8)}`;
}

export function addressOf(addresses: Addresses, service: string): Address {
  const address = addresses.get(service);
  if (address === undefined) throw new Error(`${service} was given no address`);
  return address;
}
