import type { DeploymentRecord } from "@agent-env/protocol";
import { hostName, servesAnyHost } from "../../core/auth/origin.ts";
import { strayFrom } from "../../core/proxy/site/stray.ts";
import { listOf } from "../../core/settings.ts";
import type { HostRules } from "../../core/view.ts";
import type { Environment } from "./environment.ts";

/** Which deployment a request is for, what of its path lies before the deployment's own, and whether the host is its alone. */
export type Place = {
  readonly deployment: string;
  readonly base: string;
  readonly hasOwnHost: boolean;
  /** What the paths of its pages have before them, where this request left that. */
  readonly pageBase?: string;
};

/** One label deep, `*.localhost` is loopback by standard. */
const LOCAL_DOMAIN = "localhost";

/**
 * The deployment of a request: by its host (`<site>--<deployment>.…`, `<deployment>.…`), then `/d/<deployment>/…`, then the
 * default. Null: it names none.
 */
export function locate(url: URL, env: Environment): Place | null {
  const byHost = deploymentOfHost(hostName(url.host), env);
  if (byHost !== null) return { deployment: byHost, base: "", hasOwnHost: true };
  const byPath = /^\/d\/([^/]*)/.exec(url.pathname);
  if (byPath?.[1] !== undefined) return isDeploymentId(byPath[1]) ? { deployment: byPath[1], base: byPath[0], hasOwnHost: false } : null;
  const fallback = env.DEFAULT_DEPLOYMENT?.trim() ?? "";
  return fallback === "" ? null : { deployment: fallback, base: "", hasOwnHost: false };
}

/** The `Host` values that are answered for a deployment: where callers need no token only those of this machine. */
export function edgeHosts(env: Environment, record: DeploymentRecord | null): HostRules {
  const label = record?.deployment_id ?? null;
  if (record?.auth.mode === "open") return { any: false, names: [], suffixes: [LOCAL_DOMAIN], label };
  const domains = listOf(env.GATEWAY_DOMAINS).map((domain) => domain.toLowerCase());
  const more = record?.hosts.map((name) => name.toLowerCase()) ?? [];
  return { any: record !== null && servesAnyHost(record), names: [...domains, ...more], suffixes: [...domains, LOCAL_DOMAIN], label };
}

/** The deployment of a request that left the prefix of its site: its `Referer` says which. Null for all others. */
export function strayPlace(request: Request, url: URL, env: Environment): Place | null {
  const referer = request.headers.get("referer");
  if (referer === null || deploymentOfHost(hostName(url.host), env) !== null) return null;
  const from = strayFrom({ method: request.method, origin: url.origin, path: url.pathname, referer });
  if (from === null || from.deployment === null) return null;
  return { deployment: from.deployment, base: "", hasOwnHost: false, pageBase: from.base };
}

function deploymentOfHost(name: string, env: Environment): string | null {
  for (const domain of [...listOf(env.GATEWAY_DOMAINS), LOCAL_DOMAIN]) {
    if (!name.endsWith(`.${domain.toLowerCase()}`)) continue;
    const label = name.slice(0, -domain.length - 1);
    const deployment = label.includes("--") ? label.slice(label.lastIndexOf("--") + 2) : label;
    return isDeploymentId(deployment) ? deployment : null;
  }
  return null;
}

/** One DNS label. Nothing else is ever looked up, so that what clients make up costs no reads. */
function isDeploymentId(text: string): boolean {
  return /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(text);
}
