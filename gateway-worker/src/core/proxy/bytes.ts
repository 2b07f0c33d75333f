import { joined, proxyFailed, siteStarting } from "@agent-env/protocol";
import type { Caller } from "../auth/caller.ts";
import type { RequestWatch } from "../deployment/request-watch.ts";
import { pathOf, type Route } from "../route.ts";
import type { Host, In, Out, UpRequest } from "../seam.ts";
import { writtenTime } from "../universe-time.ts";
import type { View } from "../view.ts";
import { forward, PROXY_IDLE_MS } from "./forward.ts";
import { inward, outward } from "./headers.ts";
import { siteOutward } from "./site-headers.ts";

type ServiceRoute = Extract<Route, { to: "service" }> & { readonly caller: Caller };
type SiteRoute = Extract<Route, { to: "site" }> & { readonly caller: Caller };

/** `/svc` and `/website`: requests that stream past the deployment object. */
export class Bytes {
  readonly #host: Host;
  /** Front ends that have answered: until then one that refuses has not started yet. */
  readonly #reached: Set<string>;
  readonly #watch: RequestWatch | null;

  constructor(host: Host, options: { reached?: Set<string>; watch?: RequestWatch } = {}) {
    this.#host = host;
    this.#reached = options.reached ?? new Set();
    this.#watch = options.watch ?? null;
  }

  /** Passes a request to a server's raw API. `body` is what is sent in place of the client's, if the guard has read it. */
  async service(view: View, target: ServiceRoute, request: In, answer: Out): Promise<void> {
    const url = view.services.get(target.key)?.url;
    if (url === undefined) throw new Error(`no service ${JSON.stringify(target.key)} in the view it was routed by`);
    const watched = await this.#watch?.begin({ route: "svc", service: target.key, path: target.path, role: target.caller.role }, request);
    await forward(this.#host, request, answer, {
      request: serviceRequest(request, { ...target, url, time: writtenTime(view.clock) }),
      outward,
      failed: (fault) => proxyFailed(`${target.key}: ${fault.reason}`),
      answered: (status) => watched?.answered(status),
    });
  }

  /** Passes a request to a site's front end. */
  async site(view: View, target: SiteRoute, request: In, answer: Out): Promise<void> {
    const site = view.sites.get(target.site);
    if (site === undefined) throw new Error(`no site ${JSON.stringify(target.site)} in the view it was routed by`);
    const path = site.keepsPrefix && target.prefix !== "" ? `/website/${target.site}${target.path}` : target.path;
    const outerOrigin = `${request.scheme}://${request.host}`;
    const place = { outerOrigin, prefix: target.prefix, path: pathOf(target.path), origins: site.origins };
    const watched = await this.#watch?.begin(
      { route: "website", service: target.site, path: target.path, role: target.caller.role },
      request,
    );
    await forward(this.#host, request, answer, {
      request: {
        method: request.method,
        url: joined(site.frontendUrl, path),
        headers: inward(request, { role: target.caller.role, prefix: target.prefix, time: writtenTime(view.clock) }),
        body: request.hasBody ? request : null,
        passesOn: request,
        idleMs: PROXY_IDLE_MS,
      },
      outward: (fields) => siteOutward(fields, place),
      failed: (fault) =>
        fault.kind === "refused" && !this.#reached.has(site.frontendUrl)
          ? siteStarting(target.site)
          : proxyFailed(`${target.site}: ${fault.reason}`),
      answered: (status) => {
        this.#reached.add(site.frontendUrl);
        return watched?.answered(status);
      },
    });
  }
}

/** A request as a server's raw API gets it. */
export function serviceRequest(
  request: In,
  target: { url: string; key: string; path: string; caller: Caller; time: string | null },
): UpRequest {
  const prefix = `${request.base}/svc/${encodeURIComponent(target.key)}`;
  return {
    method: request.method,
    url: joined(target.url, target.path),
    headers: inward(request, { role: target.caller.role, prefix, time: target.time }),
    body: request.hasBody ? request : null,
    passesOn: request,
    idleMs: PROXY_IDLE_MS,
  };
}
