import { type DeploymentRecord, type SiteVerdict, UserError } from "@agent-env/protocol";
import type { SandboxSession, Service } from "../providers/sandbox/provider.ts";

/** How a front end's image says who owns the prefix that its site is served under (7-sites §2). */
const PREFIX_LABEL = "agent-env.site.prefix";

type Sites = DeploymentRecord["sites"];

/**
 * The sites whose front end owns its prefix. Ask after `reserve`. Throws a `UserError` for a label that says neither `strip`,
 * the default, nor `keep`.
 */
export async function sitePrefixes(session: Pick<SandboxSession, "imageLabels">, services: readonly Service[]): Promise<Sites> {
  const sites: Sites = {};
  for (const { name, role, server } of services) {
    if (role !== "frontend" || server === null) continue;
    const value = (await session.imageLabels?.(name))?.[PREFIX_LABEL] ?? "strip";
    if (value === "keep") sites[server] = { prefix: "keep" };
    else if (value !== "strip") throw unknownPrefix(name, value);
  }
  return sites;
}

/** The same with the verdict of each site that has been checked (7-sites §6). */
export function withVerdicts(sites: Sites, verdicts: ReadonlyMap<string, SiteVerdict>): Sites {
  return { ...sites, ...Object.fromEntries([...verdicts].map(([site, verdict]) => [site, { ...sites[site], verdict }])) };
}

function unknownPrefix(service: string, value: string): UserError {
  return new UserError({
    what: `${service}: its image's label ${PREFIX_LABEL} is ${JSON.stringify(value)}`,
    why: 'it can be "strip", where the site is served as at /, or "keep", where it makes its links under the prefix itself',
    next: "correct the LABEL in its Dockerfile.frontend, or leave it out for strip",
  });
}
