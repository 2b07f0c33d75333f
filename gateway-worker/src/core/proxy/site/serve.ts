import { joined, proxyFailed, siteStarting } from "@agent-env/protocol";
import type { WatchedRequest } from "../../deployment/request-watch.ts";
import { pathOf, type Route } from "../../route.ts";
import { Fault, type Field, type Host, type In, type Out, type UpResponse } from "../../seam.ts";
import { writtenTime } from "../../universe-time.ts";
import type { SiteView, View } from "../../view.ts";
import { forward } from "../forward.ts";
import { inward } from "../headers.ts";
import { askedForPages, pageFields, pageIn, policyIn, unchangedFields } from "./answers.ts";
import { losesSecure, siteCookies } from "./cookies.ts";
import type { NoteDefect } from "./defects.ts";
import { siteOutward } from "./headers.ts";
import { hostFor } from "./hosts.ts";
import { HtmlRewriter } from "./html-rewriter.ts";
import { asksHeadersOnly } from "./layers.ts";
import type { SitePlace } from "./place.ts";

type SiteRoute = Extract<Route, { to: "site" }>;

/** What serving a site needs of its surroundings. */
export type SiteCares = {
  readonly host: Host;
  /** Somebody who wants to know of the request. */
  readonly watched?: WatchedRequest | undefined;
  /** Front ends that have answered: until then one that refuses has not started yet. */
  readonly reached: Set<string>;
  readonly note: NoteDefect;
};

/** Passes a request to a site's front end, and puts its answer where the site is served. */
export async function serveSite(
  cares: SiteCares,
  view: View,
  target: SiteRoute & { readonly role: string },
  request: In,
  answer: Out,
): Promise<void> {
  const { host, reached, note } = cares;
  const { site: name, prefix, role } = target;
  const site = view.sites.get(name);
  if (site === undefined) throw new Error(`no site ${JSON.stringify(name)} in the view it was routed by`);
  const place = placeOf(site, target, request);
  const noteHere = (kind: Parameters<NoteDefect>[1]): void => note(name, kind, `${request.method} ${place.path}`);
  const isRewritten = prefix !== "" && !site.keepsPrefix && !asksHeadersOnly(request);
  const headers = inward(request, { role, prefix, time: writtenTime(view.clock) });
  await forward(host, request, answer, {
    request: {
      method: request.method,
      url: joined(site.frontendUrl, site.keepsPrefix && prefix !== "" ? `/website/${name}${target.path}` : target.path),
      headers: siteInward(isRewritten ? askedForPages(headers, request) : headers, prefix),
      body: request.hasBody ? request : null,
      passesOn: request,
      ...(cares.watched?.seen === undefined ? {} : { bodySeen: cares.watched.seen }),
      idleMs: view.proxyIdleMs,
      ...hostFor(name, site.frontendUrl),
    },
    outward: (fields) => {
      if (fields.some(([field, value]) => field === "set-cookie" && losesSecure(value, place))) noteHere("insecure-cookie");
      return siteOutward(fields, place);
    },
    failed: (fault) =>
      fault.kind === "refused" && !reached.has(site.frontendUrl) ? siteStarting(name) : proxyFailed(`${name}: ${fault.reason}`),
    answered: (status) => {
      reached.add(site.frontendUrl);
      return cares.watched?.answered(status);
    },
    ...(isRewritten ? { show: (response, fields) => showPage(response, fields, { place, request, answer, note: noteHere }) } : {}),
  });
}

/** A server behind a published port doesn't know of it: it calls itself by the name that it was asked by, and port 80. */
function placeOf(site: SiteView, target: SiteRoute, request: In): SitePlace {
  const { protocol, hostname } = new URL(site.frontendUrl);
  const origins = [...site.origins, `${protocol}//${hostname}`];
  return { outerOrigin: `${request.scheme}://${request.host}`, prefix: target.prefix, path: pathOf(target.path), origins };
}

function siteInward(fields: readonly Field[], prefix: string): Field[] {
  return fields.flatMap(([name, value]): Field[] => {
    const kept = name === "cookie" ? siteCookies(value, prefix) : value;
    return name === "cookie" && kept === "" ? [] : [[name, kept]];
  });
}

type Showing = {
  readonly place: SitePlace;
  readonly request: In;
  readonly answer: Out;
  readonly note: (kind: Parameters<NoteDefect>[1]) => void;
};

/** Relays an answer; a page of HTML is rewritten while it streams through. */
async function showPage(response: UpResponse, fields: readonly Field[], { place, request, answer, note }: Showing): Promise<void> {
  const page = pageIn(response);
  if (page === "unreadable") note("unreadable");
  if (page !== "page")
    return await answer.relay(response.status, response.status === 304 ? unchangedFields(fields, request) : fields, response);
  if (request.method === "HEAD") return await answer.relay(response.status, pageFields(fields), response);
  const sink = answer.stream(response.status, pageFields(fields));
  const rewriter = new HtmlRewriter(place, { policy: policyIn(fields), found: note });
  const send = (bytes: Uint8Array): void | Promise<void> => (bytes.length === 0 ? undefined : sink.write(bytes));
  try {
    await response.pumpDecoded((chunk) => send(rewriter.write(chunk)));
    await send(rewriter.end());
    sink.end();
  } catch (error) {
    sink.cut();
    if (!(error instanceof Fault)) throw error;
  }
}
