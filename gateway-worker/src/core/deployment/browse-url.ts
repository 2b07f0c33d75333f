import { type DeployedServer, type DeploymentRecord, joined } from "@agent-env/protocol";

type Site = Pick<DeployedServer, "name" | "frontend_url">;

/** The address of a site that the agent's browser can open: the record's, else the front end's own. */
export function browseUrl(record: DeploymentRecord, site: Site): string {
  return recordedUrl(record, site) ?? joined(site.frontend_url ?? "", "").replace(/\/$/, "");
}

/**
 * What is said of a site that check-site found to work on a host of its own only, where it is offered under a prefix (7-sites §6);
 * null: nothing. `at` null asks of the gateway's own route, which is under a prefix and always there.
 */
export function prefixWarning({ sites }: DeploymentRecord, { name }: Site, at: string | null): string | null {
  if (sites[name]?.verdict !== "host-only") return null;
  const path = at === null ? `/website/${name}` : (URL.parse(at)?.pathname ?? "").replace(/\/$/, "");
  if (!path.endsWith(`/website/${name}`)) return null;
  return `check-site found that ${name} works on a host of its own only, and it is offered under ${path}/: open it on its own host`;
}

/** The warning of a site for `/state`: by the address that its record offers, else by the gateway's route. */
export function offeredWarning(record: DeploymentRecord, site: Site): string | null {
  return prefixWarning(record, site, recordedUrl(record, site));
}

function recordedUrl({ browse_urls, website_frontend_urls }: DeploymentRecord, { name }: Site): string | null {
  return browse_urls[name] ?? website_frontend_urls[name] ?? null;
}
