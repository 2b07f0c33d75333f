import type { ArmedClock, DeployedServer, DeploymentRecord, Segments } from "@agent-env/protocol";
import type { AuthRules } from "./auth/gate.ts";
import type { Limits } from "./limits.ts";
import type { Settings } from "./settings.ts";

/** A server as `/svc/<key>` reaches it. */
export type ServiceView = {
  readonly url: string;
  /** Where it speaks MCP: there, and below, the guard reads what is sent. */
  readonly guarded: readonly Segments[];
};

/** A site as `/website/<name>` reaches it. */
export type SiteView = {
  readonly frontendUrl: string;
  /** The addresses that mean the site itself, in redirects and on its card. */
  readonly origins: readonly string[];
  readonly reserved: readonly Segments[];
  /** The site makes links under its prefix by itself, and sees the prefix. */
  readonly keepsPrefix: boolean;
  /** Its requests may set off a trigger. */
  readonly isWatched: boolean;
};

/** Which `Host` values are served. `any` only where the deployment has no name that could be told. */
export type HostRules = {
  readonly any: boolean;
  readonly names: readonly string[];
  readonly suffixes: readonly string[];
  /** What the deployment itself is called under a suffix; null where only its sites are. */
  readonly label: string | null;
};

/** What is needed to route a request. Plain data: on Workers it is sent to where the bytes go by. */
export type View = Pick<Limits, "maxMessageBytes" | "maxUrlBytes" | "maxHeaderBytes" | "maxHops" | "proxyIdleMs"> & {
  readonly auth: AuthRules;
  /** What the deployment still waits for, as text; null once it is ready. */
  readonly notReady: string | null;
  readonly hosts: HostRules;
  readonly allowedOrigins: readonly string[];
  readonly services: ReadonlyMap<string, ServiceView>;
  readonly sites: ReadonlyMap<string, SiteView>;
  /** Host label → site. */
  readonly labels: ReadonlyMap<string, string>;
  /** What the universe's time is told by; null while the clock is unarmed. */
  readonly clock: ArmedClock | null;
};

/** A site's or MCP server's key under `/svc`. */
export function serviceKey(server: Pick<DeployedServer, "kind" | "name">): string {
  return server.kind === "mcp" ? `mcp-${server.name}` : server.name;
}

/** In the order in which tools are listed: MCP servers, then sites, each as the record has them (3-wire §tools). */
export function inToolOrder(record: DeploymentRecord): DeployedServer[] {
  return [...record.servers.filter((server) => server.kind === "mcp"), ...record.servers.filter((server) => server.kind === "website")];
}

/** Where a server of kind `mcp` speaks MCP. */
export function endpointOf(server: DeployedServer): string {
  return server.mcp_url ?? `${server.url.replace(/\/$/, "")}${server.mcp_path ?? "/mcp"}`;
}

/** What the deployment object knows of one server's card when a view is made. */
export type CardFacts = { readonly guarded: readonly Segments[]; readonly reserved: readonly Segments[] };

/** The routing view of a deployment. */
export function viewOf(parts: {
  record: DeploymentRecord;
  settings: Settings;
  hosts: HostRules;
  notReady: string | null;
  clock: ArmedClock | null;
  facts: (server: DeployedServer) => CardFacts;
  isWatched: (site: string) => boolean;
}): View {
  const { record, settings, hosts, notReady, clock, facts, isWatched } = parts;
  const services = new Map<string, ServiceView>();
  const sites = new Map<string, SiteView>();
  const labels = new Map<string, string>();
  for (const server of record.servers) {
    const { guarded, reserved } = facts(server);
    if (server.svc !== false) services.set(serviceKey(server), { url: server.url, guarded });
    if (server.kind !== "website" || server.frontend_url === undefined) continue;
    const keepsPrefix = record.sites[server.name]?.prefix === "keep";
    const served = { frontendUrl: server.frontend_url, origins: siteOrigins(server), reserved, keepsPrefix };
    sites.set(server.name, { ...served, isWatched: isWatched(server.name) });
    if (server.label !== undefined) labels.set(server.label, server.name);
  }
  return {
    auth: authRules(record),
    notReady,
    hosts,
    allowedOrigins: settings.allowedOrigins,
    services,
    sites,
    labels,
    maxMessageBytes: settings.maxMessageBytes,
    maxUrlBytes: settings.maxUrlBytes,
    maxHeaderBytes: settings.maxHeaderBytes,
    maxHops: settings.maxHops,
    proxyIdleMs: settings.proxyIdleMs,
    clock,
  };
}

/** How a deployment's callers are known. */
export function authRules({ auth, deployment_id, name }: DeploymentRecord): AuthRules {
  return { mode: auth.mode, deployment: deployment_id ?? name, keys: auth.keys ?? [] };
}

/** The addresses that count as a site's own. */
export function siteOrigins(server: DeployedServer): string[] {
  const addresses = [server.url, server.frontend_url ?? server.url];
  const named = [`http://${server.name}-website-backend:8000`, `http://${server.name}-website-frontend`];
  return [...new Set([...addresses, ...named].map((address) => new URL(address).origin))];
}
