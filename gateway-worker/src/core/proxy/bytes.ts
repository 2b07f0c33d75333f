import { joined, proxyFailed } from "@agent-env/protocol";
import type { Caller } from "../auth/caller.ts";
import type { RequestWatch } from "../deployment/request-watch.ts";
import { pathOf, type Route } from "../route.ts";
import type { Host, In, Out, UpRequest } from "../seam.ts";
import { writtenTime } from "../universe-time.ts";
import type { View } from "../view.ts";
import { forward } from "./forward.ts";
import { inward, outward } from "./headers.ts";
import type { NoteDefect } from "./site/defects.ts";
import { serveSite } from "./site/serve.ts";

type ServiceRoute = Extract<Route, { to: "service" }> & { readonly caller: Caller };
type SiteRoute = Extract<Route, { to: "site" }> & { readonly caller: Caller };

/** `/svc` and `/website`: requests that stream past the deployment object. */
export class Bytes {
  readonly #host: Host;
  /** Front ends that have answered: until then one that refuses has not started yet. */
  readonly #reached: Set<string>;
  readonly #note: NoteDefect;
  readonly #watch: RequestWatch | null;

  constructor(host: Host, cares: { note: NoteDefect; reached?: Set<string>; watch?: RequestWatch }) {
    this.#host = host;
    this.#note = cares.note;
    this.#reached = cares.reached ?? new Set();
    this.#watch = cares.watch ?? null;
  }

  /** Passes a request to a server's raw API. `body` is what is sent in place of the client's, if the guard has read it. */
  async service(view: View, target: ServiceRoute, request: In, answer: Out): Promise<void> {
    const url = view.services.get(target.key)?.url;
    if (url === undefined) throw new Error(`no service ${JSON.stringify(target.key)} in the view it was routed by`);
    const watched = await this.#watch?.begin({ route: "svc", service: target.key, path: target.path, role: target.caller.role }, request);
    await forward(this.#host, request, answer, {
      request: serviceRequest(request, { ...target, url, time: writtenTime(view.clock), idleMs: view.proxyIdleMs }),
      outward,
      failed: (fault) => proxyFailed(`${target.key}: ${fault.reason}`),
      answered: (status) => watched?.answered(status),
    });
  }

  /** Counts a request that left its site's prefix. */
  noteStray(site: string, request: In): void {
    // asked for by the browser itself
    if (request.path === "/favicon.ico") return;
    this.#note(site, "escape", `${request.method} ${pathOf(request.path ?? "")} of ${pathOf(request.header("referer") ?? "")}`);
  }

  /** Passes a request to a site's front end. */
  async site(view: View, target: SiteRoute, request: In, answer: Out): Promise<void> {
    const { role } = target.caller;
    const watched = await this.#watch?.begin({ route: "website", service: target.site, path: target.path, role }, request);
    const cares = { host: this.#host, reached: this.#reached, note: this.#note, watched };
    await serveSite(cares, view, { ...target, role }, request, answer);
  }
}

/** A request as a server's raw API gets it. */
export function serviceRequest(
  request: In,
  target: { url: string; key: string; path: string; caller: Caller; time: string | null; idleMs: number },
): UpRequest {
  const prefix = `${request.base}/svc/${encodeURIComponent(target.key)}`;
  return {
    method: request.method,
    url: joined(target.url, target.path),
    headers: inward(request, { role: target.caller.role, prefix, time: target.time }),
    body: request.hasBody ? request : null,
    passesOn: request,
    idleMs: target.idleMs,
  };
}
