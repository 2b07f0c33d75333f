import { hostName } from "../../auth/origin.ts";
import type { In } from "../../seam.ts";
import type { HostRules, View } from "../../view.ts";

/** The site that a request's host is the own host of (7-sites §1); `unknown`: a host of our domain that is none's; null: the gateway's. */
export function siteOfHost(view: View, request: In): { readonly site: string } | "unknown" | null {
  const name = hostName(request.host);
  if (request.door === "browser") return siteOfBrowserHost(view, name) ?? "unknown";
  const site = view.labels.get(name.split(".")[0] ?? "");
  if (site !== undefined) return { site };
  const label = labelOf(view.hosts, name);
  return label === null || label === view.hosts.label || view.hosts.any || view.hosts.names.includes(name) ? null : "unknown";
}

/** A front end that the gateway reaches by an alias of its own is told the name that its browsers use (3-wire §topology). */
export function hostFor(site: string, frontendUrl: string): { readonly host?: string } {
  return new URL(frontendUrl).hostname === `origin-${site}` ? { host: `${site}-website-frontend` } : {};
}

/** On the browser's own network a site has two names, and the gateway none (3-wire §topology). */
function siteOfBrowserHost(view: View, name: string): { readonly site: string } | null {
  for (const site of view.sites.keys())
    if (name === `${site}-website-frontend`.toLowerCase() || name === `${site}.gateway`.toLowerCase()) return { site };
  return null;
}

function labelOf({ suffixes }: HostRules, name: string): string | null {
  const suffix = suffixes.find((domain) => name.endsWith(`.${domain}`));
  return suffix === undefined ? null : name.slice(0, -suffix.length - 1);
}
