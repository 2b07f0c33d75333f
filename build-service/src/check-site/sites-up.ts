import { type DeploymentRecord, PAGE_PARAM, UserError } from "@agent-env/protocol";
import { pageLink } from "../deploy/tokens.ts";
import type { SiteUp } from "./check-site.ts";

/** The sites of a deployment that is up, each with its addresses in both modes. */
export function sitesUp(record: DeploymentRecord, stateDir: string): SiteUp[] {
  return record.servers
    .filter(({ kind, frontend_url }) => kind === "website" && frontend_url !== undefined)
    .flatMap(({ name, label }) => {
      const prefix = record.website_frontend_urls[name];
      if (prefix === undefined) return [];
      const host = label === undefined ? null : ownHost(record, prefix, label);
      return {
        site: name,
        host,
        prefix,
        keepsPrefix: record.sites[name]?.prefix === "keep",
        async entrance(mode) {
          if (record.auth.mode === "open") return null;
          const { url } = await pageLink(stateDir, record, { site: name, role: "default", caller: "check-site" });
          const token = new URL(url).searchParams.get(PAGE_PARAM) ?? "";
          return `${mode === "host" ? host : prefix}?${PAGE_PARAM}=${token}`;
        },
      };
    });
}

/** A site's own host beside the gateway's address (7-sites §1); null where that has no names below it. */
function ownHost({ deployment_id: id }: DeploymentRecord, prefix: string, label: string): string | null {
  const { protocol, hostname, port } = new URL(prefix);
  const at = port === "" ? "" : `:${port}`;
  if (hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname)) return `${protocol}//${label}.localhost${at}/`;
  return id !== undefined && hostname.startsWith(`${id}.`) ? `${protocol}//${label}${hostname.slice(id.length)}${at}/` : null;
}

/** Throws a `UserError` where a site can't be opened in the mode that is asked for. */
export function refuseMode({ site, host }: SiteUp, mode: "host" | "prefix" | "both"): void {
  if (host !== null || mode === "prefix") return;
  throw new UserError({
    what: `${site}: it has no host of its own here`,
    why: "the gateway's address has no names below it, and host mode needs one for each site",
    next: "check it with --mode prefix, or behind a gateway of this machine: agent-env check-site <env>",
  });
}
