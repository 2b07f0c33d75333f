import { withoutEnd } from "@agent-env/protocol";
import { anyone, type Caller } from "./auth/caller.ts";
import { corsFields, mcpCorsFields, readable, repliedPreflight } from "./auth/cors.ts";
import { type Admission, Gate } from "./auth/gate.ts";
import type { Deployment } from "./deployment/deployment.ts";
import { Step } from "./deployment/step.ts";
import { McpEndpoint } from "./mcp/endpoint.ts";
import type { Watched } from "./observe/watched.ts";
import { Bytes } from "./proxy/bytes.ts";
import { replyError } from "./proxy/forward.ts";
import { GuardedService } from "./proxy/guard.ts";
import type { NoteDefect } from "./proxy/site/defects.ts";
import { asksHeadersOnly } from "./proxy/site/layers.ts";
import { pathOf, type Route, route } from "./route.ts";
import type { Field, In, Out } from "./seam.ts";
import type { View } from "./view.ts";

/** What the app of all other routes is given with a request: who asks, and what the head of its answer holds besides. */
export type ForApp = { readonly caller: Caller; readonly fields: (status: number) => readonly Field[] };
type App = (given: ForApp) => Promise<void>;

/** Requests that need the deployment object: MCP, and whatever is MCP on its way to a server. */
export class Gateway {
  readonly deployment: Deployment;
  readonly step: Step;
  readonly #mcp: McpEndpoint;
  readonly #guard: GuardedService;
  readonly #bytes: Bytes;
  readonly #gate: (view: View) => Gate;

  constructor(deployment: Deployment) {
    this.deployment = deployment;
    this.#mcp = new McpEndpoint(deployment);
    this.step = new Step(deployment, this.#mcp.calls);
    const note: NoteDefect = (site, kind, at) => deployment.noteDefect(site, kind, at);
    this.#bytes = new Bytes(deployment.host, { note, watch: deployment.requestWatch });
    this.#guard = new GuardedService(deployment);
    this.#gate = gates(deployment.now);
  }

  /** Answers a request; `app` those of all other routes than `/mcp`, `/svc` and `/website`. */
  async handle(request: In, answer: Out, app: App): Promise<void> {
    const { host } = this.deployment;
    if (host.observer === undefined) return await this.#handle(request, answer, app);
    await host.observer.watch(request, host, (watched) => this.#handle(request, watched.over(answer), app, watched));
  }

  async #handle(request: In, answer: Out, app: App, watched?: Watched): Promise<void> {
    const view = this.deployment.view();
    const to = route(view, request);
    watched?.routed(to, view);
    if (repliedPreflight(view, to, request, answer)) return;
    const { pages, clockKey } = this.deployment;
    const gate = this.#gate(view);
    const out = readable(view, to, request, answer);
    const hasKey = to.to === "app" && (await clockKey.opens(request));
    const admission = hasKey ? { caller: anyone() } : await gate.admit({ view, need: to.need, request, pages });
    if ("caller" in admission) watched?.admitted(admission.caller);
    if (to.to === "mcp") await this.#mcp.handle(request, admission, answer);
    else if (!("caller" in admission)) replyUnadmitted(admission, request, out);
    else if (to.to === "app") await app({ ...admission, fields: (status) => headOf(view, request, status, watched) });
    else if (to.to === "service" && to.guarded) await this.#guard.handle(view, { ...to, ...admission }, request, out);
    else await serveBytes(this.#bytes, view, { ...to, ...admission }, request, out);
  }
}

/** The gate of a view: the same one, with what it remembers, until its rules change. */
export function gates(now: () => number = Date.now): (view: View) => Gate {
  let last: { readonly auth: View["auth"]; readonly gate: Gate } | undefined;
  return ({ auth }) => {
    if (last?.auth === auth) return last.gate;
    const isSame = last !== undefined && JSON.stringify(last.auth) === JSON.stringify(auth);
    last = { auth, gate: isSame && last !== undefined ? last.gate : new Gate(auth, now) };
    return last.gate;
  };
}

/** Whether a request needs no deployment object, only the view: what may set off a trigger does. */
export function isBytes(to: Route, view: View, request: In): boolean {
  if (to.to === "site") return request.wantsUpgrade || view.sites.get(to.site)?.isWatched !== true;
  return to.to === "refused" || to.to === "redirect" || (to.to === "service" && !to.guarded);
}

/** What an answer of the app holds besides: whom a browser lets read it, and what it took. */
function headOf(view: View, request: In, status: number, watched: Watched | undefined): readonly Field[] {
  return [...corsFields(view, request), ...(watched?.answered(status) ?? [])];
}

function isMcp({ path }: In): boolean {
  return withoutEnd(pathOf(path ?? ""), (char) => char === "/") === "/mcp";
}

/** Answers a request that isn't let in. */
export function replyUnadmitted(admission: Exclude<Admission, { readonly caller: Caller }>, request: In, answer: Out): void {
  if ("error" in admission) replyError(request, answer, admission.error);
  else answer.reply(303, admission.seeOther);
}

/** Where a request belongs that left its site's prefix depends on the page that made it. */
const STRAY_FIELDS: readonly Field[] = [
  ["cache-control", "no-store"],
  ["vary", "Referer"],
];

/** Answers what needs no deployment object, and whose caller was let in. */
export async function serveBytes(
  bytes: Bytes,
  view: View,
  to: Route & { readonly caller: Caller },
  request: In,
  answer: Out,
): Promise<void> {
  switch (to.to) {
    case "refused":
      // whatever is wrong with it, a page that may call the route may read why (6-mcp §12)
      return replyError(request, answer, to.error, isMcp(request) ? mcpCorsFields(view, request) : corsFields(view, request));
    case "redirect":
      if (to.stray !== undefined && !asksHeadersOnly(request)) bytes.noteStray(to.stray, request);
      return answer.reply(to.stray === undefined ? 308 : 307, [
        ["location", to.location],
        ["content-length", "0"],
        ...(to.stray === undefined ? [] : STRAY_FIELDS),
      ]);
    case "site":
      return await bytes.site(view, to, request, answer);
    case "service":
      return await bytes.service(view, to, request, answer);
    default:
      throw new Error(`a route to ${to.to} needs the deployment object`);
  }
}
