import { type DeploymentRecord, foreignHost, type GatewayError, openElsewhere, severalHosts, unknownDeployment } from "@agent-env/protocol";
import type { Gate } from "../../core/auth/gate.ts";
import { hostName, isLoopback, isServedHost } from "../../core/auth/origin.ts";
import type { Pages } from "../../core/auth/pages.ts";
import { gates, isBytes, replyUnadmitted, serveBytes } from "../../core/gateway.ts";
import { Bytes } from "../../core/proxy/bytes.ts";
import type { NoteDefect } from "../../core/proxy/site/defects.ts";
import { type Route, route } from "../../core/route.ts";
import type { Host } from "../../core/seam.ts";
import type { View } from "../../core/view.ts";
import type { DeploymentObject } from "./deployment-object.ts";
import { passingDoors } from "./doors.ts";
import type { Environment } from "./environment.ts";
import { workersHost } from "./host.ts";
import { WorkersIn, WorkersOut } from "./in-out.ts";
import { edgeHosts, locate, type Place, strayPlace } from "./locate.ts";
import { pagesBy } from "./pages.ts";
import { readRecord } from "./records.ts";

export { DeploymentObject } from "./deployment-object.ts";

/** How old the Worker's copy of a deployment's routing view may be. */
const VIEW_MS = 1_000;

const MAX_GATES = 10_000;

type Deployed = DurableObjectStub<DeploymentObject>;
type CachedView = { readonly view: View; readonly readMs: number };

const views = new Map<string, CachedView>();
const reached = new Set<string>();
/** By deployment: what they remember is good for as long as its keys are. */
const gatesOf = new Map<string, (view: View) => Gate>();

/** The edge gateway: pages and raw APIs stream by here, everything else is the deployment object's. */
export default {
  async fetch(request: Request, env: Environment, context: ExecutionContext): Promise<Response> {
    // two Host lines come as one, joined by a comma
    const url = URL.parse(request.url);
    if (url === null) return errorResponse(severalHosts());
    const { place, record } = await deployedAt(url, strayPlace(request, url, env) ?? locate(url, env), env);
    if (!isServedHost(edgeHosts(env, record), url.host)) return errorResponse(foreignHost());
    if (place === null || record === null) return errorResponse(unknownDeployment(place?.deployment ?? ""));
    if (record.auth.mode === "open" && isFromElsewhere(request)) return errorResponse(openElsewhere());
    const object = env.DEPLOYMENT.get(env.DEPLOYMENT.idFromName(place.deployment));
    const view = await viewOf(object, place);
    if (view === null) return errorResponse(unknownDeployment(place.deployment));
    const incoming = new WorkersIn(request, place);
    const to = route(view, incoming);
    if (!isBytes(to)) return await object.fetch(request);

    const out = new WorkersOut(request);
    const host = workersHost({ context, doors: passingDoors, sql: noSql, committed: () => Promise.resolve(), record: () => record, out });
    const note: NoteDefect = (site, kind, at) => context.waitUntil(object.noteDefect(place.deployment, site, kind, at));
    const serving = served({
      host,
      note,
      gate: gateOf(place, view),
      pages: pagesBy(object, place.deployment),
      view,
      to,
      request: incoming,
      out,
    });
    context.waitUntil(serving.catch((error: unknown) => out.fail(error)));
    return await out.response;
  },
} satisfies ExportedHandler<Environment>;

/** The record of what a request names. In a shortened label the deployment stands before its hash; the record says whether it does. */
async function deployedAt(
  url: URL,
  place: Place | null,
  env: Environment,
): Promise<{ place: Place | null; record: DeploymentRecord | null }> {
  const record = place === null ? null : await readRecord(env, place.deployment);
  const shorter = place?.hasOwnHost === true && record === null ? /^(.+)-[0-9a-f]{8}$/.exec(place.deployment)?.[1] : undefined;
  if (place === null || shorter === undefined) return { place, record };
  const other = await readRecord(env, shorter);
  const isOurs = other?.servers.some(({ label }) => label === hostName(url.host).split(".")[0]) === true;
  return isOurs ? { place: { ...place, deployment: shorter }, record: other } : { place, record };
}

type Serving = { host: Host; note: NoteDefect; gate: Gate; pages: Pages; view: View; to: Route; request: WorkersIn; out: WorkersOut };

async function served({ host, note, gate, pages, view, to, request, out }: Serving): Promise<void> {
  const admission = await gate.admit({ view, need: to.need, request, pages });
  if (!("caller" in admission)) return replyUnadmitted(admission, request, out);
  await serveBytes(new Bytes(host, { note, reached }), view, { ...to, ...admission }, request, out);
}

/** Callers without tokens are this machine's: where the platform says who asks, nobody else is. */
function isFromElsewhere(request: Request): boolean {
  const peer = request.headers.get("cf-connecting-ip");
  return peer !== null && !isLoopback(peer);
}

function gateOf({ deployment }: Place, view: View): Gate {
  const known = gatesOf.get(deployment) ?? gates();
  if (gatesOf.size >= MAX_GATES) gatesOf.clear();
  gatesOf.set(deployment, known);
  return known(view);
}

/** What streams past the object remembers nothing. */
const noSql = {
  exec: () => {
    throw new Error("no database beside the object");
  },
  transaction: () => {
    throw new Error("no database beside the object");
  },
};

async function viewOf(object: Deployed, { deployment }: Place): Promise<View | null> {
  const cached = views.get(deployment);
  if (cached !== undefined && Date.now() - cached.readMs < VIEW_MS) return cached.view;
  const view = await object.view(deployment);
  // one that is still starting is asked for again: it may be ready at any moment
  if (view?.notReady === null) views.set(deployment, { view, readMs: Date.now() });
  return view;
}

function errorResponse(error: GatewayError): Response {
  return Response.json(error.body, { status: error.status });
}
