import {
  type DeploymentRecord,
  deploymentBroke,
  foreignHost,
  type GatewayError,
  noDeployment,
  openElsewhere,
  severalHosts,
} from "@agent-env/protocol";
import { readable, repliedPreflight } from "../../core/auth/cors.ts";
import type { Gate } from "../../core/auth/gate.ts";
import { hostName, isLoopback, isServedHost } from "../../core/auth/origin.ts";
import type { Pages } from "../../core/auth/pages.ts";
import { gates, isBytes, replyUnadmitted, serveBytes } from "../../core/gateway.ts";
import type { Observer } from "../../core/observe/observer.ts";
import type { Watched } from "../../core/observe/watched.ts";
import { Bytes } from "../../core/proxy/bytes.ts";
import type { NoteDefect } from "../../core/proxy/site/defects.ts";
import { type Route, route } from "../../core/route.ts";
import type { Host } from "../../core/seam.ts";
import type { View } from "../../core/view.ts";
import type { DeploymentObject, Refusal } from "./deployment-object.ts";
import { passingDoors } from "./doors.ts";
import type { Environment } from "./environment.ts";
import { observerIn, workersHost } from "./host.ts";
import { WorkersIn, WorkersOut } from "./in-out.ts";
import { edgeHosts, locate, type Place, strayPlace } from "./locate.ts";
import { pagesBy } from "./pages.ts";
import { Recent } from "./recent.ts";
import { deploymentOfLabel, type RecordRead, readRecord } from "./records.ts";

export { DeploymentObject } from "./deployment-object.ts";

/** How old the Worker's copy of a deployment's routing view may be. */
const VIEW_MS = 1_000;

const MAX_VIEWS = 2_000;
const MAX_GATES = 10_000;

type Deployed = DurableObjectStub<DeploymentObject>;
type CachedView = { readonly view: View; readonly readMs: number };

/** Set with the first request: what is to be watched stands in the Worker's variables. */
let observing: { readonly observer: Observer | undefined } | null = null;
const views = new Recent<CachedView>(MAX_VIEWS);
const reached = new Set<string>();
/** By deployment: what they remember is good for as long as its keys are. */
const gatesOf = new Recent<(view: View) => Gate>(MAX_GATES);

/** The edge gateway: pages and raw APIs stream by here, everything else is the deployment object's. */
export default {
  async fetch(request: Request, env: Environment, context: ExecutionContext): Promise<Response> {
    // two Host lines come as one, joined by a comma
    const url = URL.parse(request.url);
    if (url === null) return errorResponse(severalHosts());
    const { place, read } = await deployedAt(url, strayPlace(request, url, env) ?? locate(url, env), env);
    if (!isServedHost(edgeHosts(env, read?.record ?? null), url.host)) return errorResponse(foreignHost());
    if (place === null || read === null) return errorResponse(noDeployment());
    if (read.problem !== null) return errorResponse(read.problem);
    try {
      return await answer({ request, url, env, context }, place, read.record);
    } catch (error) {
      console.error(error);
      return errorResponse(deploymentBroke(place.deployment));
    }
  },
} satisfies ExportedHandler<Environment>;

type Asked = { readonly request: Request; readonly url: URL; readonly env: Environment; readonly context: ExecutionContext };

/** What one deployment answers. A fault in it is its own. */
async function answer({ request, url, env, context }: Asked, place: Place, record: DeploymentRecord): Promise<Response> {
  if (record.auth.mode === "open" && isFromElsewhere(request)) return errorResponse(openElsewhere());
  const object = env.DEPLOYMENT.get(env.DEPLOYMENT.idFromName(place.deployment));
  if (isMcpPost(request, url, place)) return await object.fetch(request);
  const view = await viewOf(object, place);
  if ("status" in view) return errorResponse({ ...view, headers: [] });
  const incoming = new WorkersIn(request, place);
  const to = route(view, incoming);
  if (!isBytes(to, view, incoming)) return await object.fetch(request);

  const out = new WorkersOut(request);
  observing ??= { observer: observerIn(env) };
  const { observer } = observing;
  const committed = () => Promise.resolve();
  const host = workersHost({ context, doors: passingDoors, sql: noSql, committed, record: () => record, out, observer });
  const note: NoteDefect = (site, kind, at) => context.waitUntil(object.noteDefect(place.deployment, site, kind, at));
  const serving: Serving = {
    host,
    note,
    gate: gateOf(place, view),
    pages: pagesBy(object, place.deployment),
    view,
    to,
    request: incoming,
    out,
  };
  const serve = observer === undefined ? served(serving) : observer.watch(incoming, host, (watched) => served(serving, watched));
  context.waitUntil(serve.catch((error: unknown) => out.fail(error)));
  return await out.response;
}

/** A message to the gateway's own MCP server: the object's, which routes it by the same rules. All calls come this way. */
function isMcpPost({ method }: Request, { host, pathname }: URL, { deployment, base, hasOwnHost }: Place): boolean {
  const isGateways = !hasOwnHost || hostName(host).split(".")[0] === deployment;
  return method === "POST" && pathname === `${base}/mcp` && isGateways;
}

/**
 * The record of what a request names. In a shortened label the deployment stands before its hash, or KV knows it; the record says
 * whether it is so.
 */
async function deployedAt(url: URL, place: Place | null, env: Environment): Promise<{ place: Place | null; read: RecordRead | null }> {
  const read = place === null ? null : await readRecord(env, place.deployment);
  if (place?.hasOwnHost !== true || read?.record !== null) return { place, read };
  const label = hostName(url.host).split(".")[0] ?? "";
  const shorter = /^(.+)-[0-9a-f]{8}$/.exec(place.deployment)?.[1] ?? null;
  for (const find of [() => shorter, () => deploymentOfLabel(env, label)]) {
    const deployment = await find();
    const other = deployment === null ? null : await readRecord(env, deployment);
    if (deployment !== null && other?.record?.servers.some((server) => server.label === label) === true)
      return { place: { ...place, deployment }, read: other };
  }
  return { place, read };
}

type Serving = { host: Host; note: NoteDefect; gate: Gate; pages: Pages; view: View; to: Route; request: WorkersIn; out: WorkersOut };

async function served({ host, note, gate, pages, view, to, request, out: whole }: Serving, watched?: Watched): Promise<void> {
  const out = watched?.over(whole) ?? whole;
  watched?.routed(to, view);
  if (repliedPreflight(view, to, request, out)) return;
  const admission = await gate.admit({ view, need: to.need, request, pages });
  const answer = readable(view, to, request, out);
  if (!("caller" in admission)) return replyUnadmitted(admission, request, answer);
  watched?.admitted(admission.caller);
  await serveBytes(new Bytes(host, { note, reached }), view, { ...to, ...admission }, request, answer);
}

/** Callers without tokens are this machine's: where the platform says who asks, nobody else is. */
function isFromElsewhere(request: Request): boolean {
  const peer = request.headers.get("cf-connecting-ip");
  return peer !== null && !isLoopback(peer);
}

function gateOf({ deployment }: Place, view: View): Gate {
  const known = gatesOf.get(deployment) ?? gates();
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

async function viewOf(object: Deployed, { deployment }: Place): Promise<View | Refusal> {
  const cached = views.get(deployment);
  if (cached !== undefined && Date.now() - cached.readMs < VIEW_MS) return cached.view;
  const view = await freshView(object, deployment);
  // one that is still starting is asked for again: it may be ready at any moment
  if (!("status" in view) && view.notReady === null) views.set(deployment, { view, readMs: Date.now() });
  return view;
}

/** The types of calls to objects have no word for a key of unknown members. */
async function freshView(object: Deployed, deployment: string): Promise<View | Refusal> {
  return await object.view(deployment);
}

function errorResponse(error: GatewayError): Response {
  return Response.json(error.body, {
    status: error.status,
    headers: error.headers.map(([name, value]): [string, string] => [name, value]),
  });
}
