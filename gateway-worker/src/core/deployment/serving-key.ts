import type { DeploymentRecord } from "@agent-env/protocol";

/**
 * What of a record decides how its deployment is served, as one text. A revision that changes none of it (an owner that
 * lets go, a card that was noted, another key for tokens) is no reason to start anew, or to wait for servers that are up.
 */
export function servingKey(record: DeploymentRecord): string {
  const { name, servers, sites, hosts, browse_urls, website_frontend_urls, gateway_mode } = record;
  return JSON.stringify({ name, auth: record.auth.mode, servers, sites, hosts, browse_urls, website_frontend_urls, gateway_mode });
}
